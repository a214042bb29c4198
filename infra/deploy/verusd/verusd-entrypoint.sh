#!/bin/sh
# verusd needs its proof parameters. Its own script fetches and verifies them, continues where it was interrupted, and skips what is there.
# The daemons share the folder, and the script's own lock is in the /tmp of one container.
set -eu
flock "$HOME/.zcash-params" /opt/verus/fetch-params
exec /opt/verus/verusd -printtoconsole "$@"
