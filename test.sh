#!/usr/bin/env bash
# All tests. Needs cargo, a C compiler, python3 and git, and npm and Chromium for the page; THRONG_LONG=1 adds the long campaigns.
#
# Everything is built in the release profile, so that tests, lints and the command share what they compile.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT
names=() seconds=() verdicts=()

# Runs one section, times it, and goes on: one run shows everything that is wrong.
section() {
    local name=$1 began=$SECONDS code=0
    shift
    printf '\n== %s\n' "$name"
    # Not inside `if` or `||`: bash would ignore `set -e` there.
    set +e
    (set -euo pipefail; "$@")
    code=$?
    set -e
    names+=("$name") seconds+=($((SECONDS - began)))
    if ((code == 0)); then verdicts+=(ok); else verdicts+=("FAILED ($code)"); fi
}

need() {
    command -v "$1" >/dev/null || { echo "test.sh needs $1: $2" >&2; exit 2; }
}

component() {
    cargo "$1" --version >/dev/null 2>&1 || rustup component add "$2"
}

formatting() {
    component fmt rustfmt
    cargo fmt --all --check
}

lints() {
    component clippy clippy
    cargo clippy --release --workspace --all-targets -- -D warnings
}

# Also that the pages name no path that does not exist.
documentation() {
    local path missing=0
    for path in $(grep -ohE '`(crates|apps|scenarios|docs|tools)/[^` ]*`' ./*.md | tr -d '`' | sort -u); do
        [[ -e $path ]] || { echo "no such path: $path"; missing=1; }
    done
    ((missing == 0))
    RUSTDOCFLAGS="-D warnings" cargo doc --release --workspace --no-deps
}

licences() {
    local host
    host=$(rustc -vV | sed -n 's/^host: //p')
    cargo metadata --format-version 1 --all-features --filter-platform "$host" | python3 tools/licences.py
}

# Other systems to compare with. Where they cannot be had, the tests that need them say `skipped`.
peers() {
    local python=target/python/bin/python
    if [[ -n ${THRONG_PYTHON:-} ]]; then
        echo "using THRONG_PYTHON"
    elif "$python" -c 'import pyrvo, pedpy, jupedsim' 2>/dev/null; then
        echo "already installed in target/python"
    elif ! python3 -m venv target/python >"$logs/venv" 2>&1; then
        echo "no Python environment, comparisons will be skipped:"
        tail -n 5 "$logs/venv"
    elif ! "$python" -m pip install --quiet pyrvo pedpy jupedsim >"$logs/pip" 2>&1; then
        echo "pip could not install pyrvo, pedpy and jupedsim, comparisons will be skipped:"
        tail -n 5 "$logs/pip"
    else
        echo "installed pyrvo, pedpy and jupedsim in target/python"
    fi
}

# Random cases are the same in every run, so that a failure can be seen again; the long tests draw anew.
tests() {
    PROPTEST_RNG_SEED=${PROPTEST_RNG_SEED:-1} \
        cargo test --release --workspace --no-fail-fast 2>&1 | tee "$logs/tests"
}

# The command that the tests have built.
throng_command() {
    cargo metadata --format-version 1 --no-deps |
        python3 -c 'import json, sys; print(json.load(sys.stdin)["target_directory"] + "/release/throng")'
}

throng() {
    local command
    command=$(throng_command)
    "$command" "$@"
}

# Builds the page again and holds it against the build that is embedded; the tests hold a hash of its source against it too,
# without npm.
# Not `npm ci`: where a registry lacks bundlers for other systems, it refuses a lock file without them.
page_build() {
    if ! command -v npm >/dev/null || ! (cd apps/viewer/page && npm install --no-save) >"$logs/npm" 2>&1; then
        echo "npm cannot install what the page is built with, skipped"
        return
    fi
    cp -r apps/viewer/dist "$logs/dist"
    (cd apps/viewer/page && npm run build)
    diff -r "$logs/dist" apps/viewer/dist
}

# The page in a real browser; looks are kept in target/page.
page() {
    local command
    command=$(throng_command)
    apps/viewer/e2e/run.sh "$command" 2>&1 | tee "$logs/page-tests"
}

# Speed on a busy machine says little: a finding that does not hold is shown, and only a failure to run fails. What is
# not about speed is held to its bars by the tests (apps/cli/tests/json.rs).
shown() {
    local code=0
    "$@" || code=$?
    if ((code == 1)); then echo "a finding does not hold in this short run; see above"; fi
    ((code <= 1))
}

# Instructions do not depend on what else a machine does: a change that costs more must say so.
instructions() {
    if ! command -v valgrind >/dev/null && ((EUID == 0)) && command -v apt-get >/dev/null; then
        { apt-get update && apt-get install -y --no-install-recommends valgrind; } >"$logs/apt" 2>&1 || tail -n 3 "$logs/apt"
    fi
    throng bench --instructions tools/instructions.toml
}

long_tests() {
    cargo test --release --workspace --tests --no-fail-fast -- --ignored 2>&1 | tee "$logs/long-tests"
}

# Adds up what `cargo test` and the tests with a harness of their own have printed.
count() {
    cat "$logs"/*tests 2>/dev/null |
        grep -E '^(test result: |[0-9]+ passed, )' | grep -oE "[0-9]+ $1" |
        awk '{ sum += $1 } END { print sum + 0 }' || true
}

need cargo "install it with rustup, https://rustup.rs"
need python3 "it runs the comparisons with other systems"

section "formatting" formatting
section "lints" lints
section "documentation" documentation
section "licences" licences
section "peers" peers
section "tests" tests
section "page, built" page_build
section "page" page
section "papers, short" shown throng papers snape --quick
section "meso, short" shown throng papers meso --quick
section "density, short" shown throng papers density --quick
section "hybrid, short" shown throng papers hybrid --quick
section "domains, short" shown throng papers multi-domain --quick
section "plans, short" shown throng papers multi-domain --scenarios --quick
section "validate, short" shown throng validate all --quick
section "bench, short" shown throng bench --quick
section "instructions" instructions
if [[ ${THRONG_LONG:-} == 1 ]]; then
    section "long tests" long_tests
    section "papers" throng papers snape
    section "meso" throng papers meso
    section "density" throng papers density
    section "hybrid" throng papers hybrid
    section "domains" throng papers multi-domain
    section "plans" throng papers multi-domain --scenarios
    section "validate" shown throng validate all
    section "bench" throng bench
fi

printf '\n'
# What failed, once more: the end of a long output is what is looked at first.
cat "$logs"/*tests 2>/dev/null | grep -E '^test .* FAILED|^error: |panicked at|: hangs$' | sort -u | head -n 40 || true
failed=0
for i in "${!names[@]}"; do
    printf '%-16s %5d s  %s\n' "${names[i]}" "${seconds[i]}" "${verdicts[i]}"
    if [[ ${verdicts[i]} != ok ]]; then failed=$((failed + 1)); fi
done
printf '%d of %d sections ok in %d s; tests: %d passed, %d failed, %d ignored, %d skipped\n' \
    $((${#names[@]} - failed)) ${#names[@]} $SECONDS \
    "$(count passed)" "$(count failed)" "$(count ignored)" "$(count skipped)"
((failed == 0))
