#!/usr/bin/env bash
# Makes the site of all documents with search and API pages, build/site/index.html, and fails where a link is broken. Needs the
# Debian packages mkdocs, mkdocs-material and doxygen; the site needs nothing from elsewhere.
set -euo pipefail
source "$(dirname "$0")/common.sh"
cd "$root"

missing=()
command -v mkdocs >/dev/null || missing+=(mkdocs)
[[ -d /usr/share/mkdocs/themes/material ]] || python3 -c 'import material' 2>/dev/null || missing+=(mkdocs-material)
command -v doxygen >/dev/null || missing+=(doxygen)
if ((${#missing[@]} > 0)); then
  echo "site: missing; as root: apt-get install --no-install-recommends ${missing[*]}" >&2
  exit 1
fi

step "pages"
staged=build/site_pages
rm -rf "$staged"
mkdir -p "$staged"
python3 scripts/site_pages.py --stage "$staged/pages"
cp docs/mkdocs.yml "$staged/"
cp docs/site.css "$staged/pages/"
step "API pages"
bash scripts/api_pages.sh "$root/build/api" >/dev/null
cp -r build/api/html "$staged/pages/api"
# Their title leads back to the pages.
find "$staged/pages/api" -name "*.html" -exec sed -i 's,<div id="projectname">recoil,<div id="projectname"><a href="../index.html">recoil</a>,' {} +
printf '# API pages\n\nEvery class and function of the public headers, by floor and folder: [floors](api/modules.html).\n' >"$staged/pages/api.md"
step "site"
PYTHONPATH=scripts mkdocs build --strict --quiet --config-file "$staged/mkdocs.yml"
step "done: build/site/index.html; with search: python3 -m http.server -d build/site"
