#!/usr/bin/env bash
# Makes the API pages of the public headers, build/api/html/index.html (or below another folder: scripts/api_pages.sh FOLDER),
# and fails where Doxygen warns. Needs the Debian package doxygen.
set -euo pipefail
source "$(dirname "$0")/common.sh"
folder=${1:-$root/build/api}

command -v doxygen >/dev/null || {
  echo "api_pages: doxygen is missing: apt-get install --no-install-recommends doxygen" >&2
  exit 77
}
rm -rf "$folder"
mkdir -p "$folder"
python3 "$root/scripts/floors.py" --stage "$folder/include"
doxygen - <<EOF
@INCLUDE = $root/docs/Doxyfile
INPUT = $folder/include
STRIP_FROM_PATH = $folder/include
STRIP_FROM_INC_PATH = $folder/include
OUTPUT_DIRECTORY = $folder
HTML_EXTRA_STYLESHEET = $root/docs/site.css
WARN_LOGFILE = $folder/warnings.txt
EOF
if [[ -s "$folder/warnings.txt" ]]; then
  # The staged headers have the lines of include/.
  sed "s|$folder/include/|include/|" "$folder/warnings.txt" >&2
  exit 1
fi
echo "api_pages: $folder/html/index.html"
