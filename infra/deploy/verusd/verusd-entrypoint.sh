#!/bin/sh
# verusd needs its proof parameters, which its own script fetches and verifies once.
set -eu
[ -f "$HOME/.zcash-params/sapling-spend.params" ] || /opt/verus/fetch-params
exec /opt/verus/verusd -printtoconsole "$@"
