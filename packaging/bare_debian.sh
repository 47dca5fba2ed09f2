# Sourced by the tests of packages: a Debian 12 without anything more, from the mirror and with the settings of this machine's apt.

# debian_mirror: the first mirror that this machine's apt takes Debian's packages from.
debian_mirror() {
  local mirror
  mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Identifier: Packages' 'Origin: Debian' 'Codename: bookworm' 2>/dev/null | head -n 1)
  echo "${mirror:-http://deb.debian.org/debian}"
}

# make_bare_debian FOLDER MIRROR
make_bare_debian() {
  if ! command -v debootstrap >/dev/null; then
    echo "debootstrap is missing: apt-get install debootstrap" >&2
    return 1
  fi
  debootstrap --variant=minbase bookworm "$1" "$2" || return
  # Proxies, and what a mirror that lags behind needs; often nothing.
  apt-config dump | grep -E '^Acquire::(Check-|[a-z]+::(Proxy|Verify|CaInfo))' >"$1/etc/apt/apt.conf.d/90of-the-machine" || true
}
