#!/usr/bin/env bash
# Tests the page in headless Chromium. The first argument is the throng command; screenshots go to target/page.
#
# Installs what it needs. Where that is impossible it says why and counts its tests as skipped.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
throng=$1
out=$here/../../../target/page
mkdir -p "$out"

skip() {
    echo "skipped: $1"
    echo "0 passed, 0 failed, 0 ignored, $(grep -c '^test(' "$here/page.mjs") skipped"
    exit 0
}

browser() {
    local name
    for name in "${CHROMIUM:-}" chromium chromium-browser google-chrome; do
        if [[ -n $name ]] && command -v "$name"; then return; fi
    done
    return 1
}

command -v npm >/dev/null || skip "there is no npm"
if ! browser >/dev/null; then
    if ((EUID != 0)) || ! command -v apt-get >/dev/null; then
        skip "there is no Chromium; install it, or name it in CHROMIUM"
    fi
    { apt-get update && apt-get install -y --no-install-recommends chromium; } >"$out/apt.log" 2>&1 ||
        skip "apt-get could not install Chromium, see target/page/apt.log"
fi
(cd "$here" && npm ci) >"$out/npm.log" 2>&1 || skip "npm could not install playwright-core, see target/page/npm.log"
rm -f "$out"/*.png
THRONG=$(realpath "$throng") CHROMIUM=$(browser) OUT=$out exec node "$here/page.mjs"
