"""A bot that follows conversions, with nothing but Python's standard library: server-sent events, resumed by Last-Event-ID.

It saves its state together with the cursor, so it can be killed at any moment and resumes without losing a conversion or
counting it twice; a reorganisation reverts the conversions of the removed blocks.

    python3 examples/follow_conversions.py [http://127.0.0.1:8080] [state file]      VERUSTREAM_KEY: an API key, if you have one
"""
import http.client
import json
import os
import random
import sys
import time
import urllib.error
import urllib.request
from decimal import Decimal

FINAL_AFTER_BLOCKS = 1_000  # no reorganisation is deeper than this
SAVE_SECONDS = 1
SILENT_SECONDS = 45  # three heartbeats

base_url = sys.argv[1] if len(sys.argv) > 1 else 'http://127.0.0.1:8080'
file = sys.argv[2] if len(sys.argv) > 2 else 'conversions.json'


def load():
    """cursor: of the last event that this state includes; heights: current height of each chain; changes: chain, height, conversion."""
    if os.path.exists(file):
        with open(file) as saved:
            return json.load(saved)
    return {'cursor': None, 'heights': {}, 'changes': []}


def save(state):
    """Writes a new file and renames it, so that the state file is never partial."""
    with open(file + '.new', 'w') as out:
        json.dump(state, out, default=str)
    os.replace(file + '.new', file)


def messages(cursor):
    """Yields the messages after a cursor, until the connection ends."""
    request = urllib.request.Request(base_url + '/api/stream?channels=blocks,conversions')
    if cursor:
        request.add_header('Last-Event-ID', cursor)
    if os.environ.get('VERUSTREAM_KEY'):
        # Not sent to another host that the service may redirect to.
        request.add_unredirected_header('Authorization', 'Bearer ' + os.environ['VERUSTREAM_KEY'])
    with urllib.request.urlopen(request, timeout=SILENT_SECONDS) as stream:
        for line in stream:
            if line.endswith(b'\n') and line.startswith(b'data: '):
                # Amounts have 8 decimals, which a float cannot always represent.
                yield json.loads(line[len(b'data: '):], parse_float=Decimal)


def brought_at(state, chain, conversion):
    """Height of the block that brought a conversion; None when the conversion is to be ignored."""
    # The stream sends a block before its conversions.
    if conversion.get('reason') != 'no_delivery':
        return state['heights'].get(chain, 0)
    # A correction belongs to the block of the conversion that it corrects, and may arrive more than once.
    for change in reversed(state['changes']):
        held = change['conversion']
        if (change['chain'], held['txid'], held['vout']) == (chain, conversion['txid'], conversion['vout']):
            corrects = held['status'] == 'unmatched' and held['importTxid'] == conversion['importTxid']
            return change['height'] if corrects else None
    return None


def apply(state, event):
    kind, chain = event['type'], event.get('chain')
    if kind == 'block':
        height = event['data']['height']
        state['heights'][chain] = height
        state['changes'] = [c for c in state['changes'] if c['chain'] != chain or c['height'] > height - FINAL_AFTER_BLOCKS]
    elif kind == 'conversion':
        conversion = event['data']
        height = brought_at(state, chain, conversion)
        if height is not None:
            state['changes'].append({'chain': chain, 'height': height, 'conversion': conversion})
        print(f"{conversion['status']:10}{conversion['amountIn']} {conversion['fromCurrencyId']} → {conversion['toCurrencyId']}", flush=True)
    elif kind == 'undo':
        height = event['data']['toHeight']
        state['changes'] = [c for c in state['changes'] if c['chain'] != chain or c['height'] <= height]
        state['heights'][chain] = height
        print(f'reorganised: what blocks above {height} brought is taken back', flush=True)
    elif kind == 'resync':
        print(f"events of {chain} are lost ({event['reason']}): read /api/conversions/ before you go on", file=sys.stderr)
    state['cursor'] = event['cursor']


def main():
    state, saved_at, failures = load(), 0.0, 0
    while True:
        try:
            for event in messages(state['cursor']):
                failures = 0
                apply(state, event)
                if time.monotonic() - saved_at >= SAVE_SECONDS:
                    save(state)
                    saved_at = time.monotonic()
        except urllib.error.HTTPError as error:
            if error.code < 500 and error.code != 429:
                raise SystemExit(f'refused: {error.read().decode()}') from error
            print(f'refused for now: {error}', file=sys.stderr)
        except (OSError, http.client.HTTPException) as error:
            print(f'connecting again: {error}', file=sys.stderr)
        save(state)
        failures += 1
        time.sleep(min(30, 0.25 * 2 ** min(failures, 7)) * random.uniform(0.5, 1))


if __name__ == '__main__':
    try:
        main()
    except KeyboardInterrupt:
        pass
