"""Locks an identity against spending, or starts its unlock. Like update_identity.py, it leaves the keys in your own wallet. `delay N`: locked
until an unlock is requested and N more blocks have passed. `until HEIGHT`: locked up to that block; an identity that is locked with a
delay is unlocked as soon as the delay allows.

    WALLET_URL=http://user:password@127.0.0.1:27486 python3 examples/wallets/lock_identity.py SERVICE NAME@ delay|until BLOCKS

MOST_FEE: in coins, 0.01. DROP_MAP=yes: continue although the newest state will have no contentmultimap
"""
import os

from rpc import connect, read_arguments, wallet_url, whole_number
from sign_at_home import check, sign_and_send

LOCKED = 2
LONGEST_DELAY = 11_563_200

address, name, kind, number = read_arguments('SERVICE', 'NAME@', 'delay|until', 'BLOCKS')
service = connect(address)
wallet = connect(wallet_url())
blocks = whole_number(number, 'BLOCKS')
if kind not in ('delay', 'until'):
    raise SystemExit(f'delay or until, not {kind}')
if kind == 'delay' and not 1 <= blocks <= LONGEST_DELAY:
    raise SystemExit(f'a delay is 1 to {LONGEST_DELAY} blocks')


def changes(known, transaction):
    if known.get('contentmultimap') and os.environ.get('DROP_MAP') != 'yes':
        raise SystemExit('the newest state would lose its contentmultimap: keep what merge-multimap prints, then set DROP_MAP=yes')
    if kind == 'delay':
        return {'flags': known['flags'] | LOCKED, 'timelock': blocks}
    expiry = transaction['expiryheight']
    if known['flags'] & LOCKED:
        # The delay counts from the last block that may contain the transaction.
        return {'flags': known['flags'] & ~LOCKED, 'timelock': max(blocks, known['timelock'] + expiry)}
    if blocks <= expiry:
        raise SystemExit(f'the lock must reach beyond block {expiry}')
    return {'timelock': blocks}


def check_map(stored):
    if stored:
        raise SystemExit('a lock carries no contentmultimap')


request = {'setunlockdelay': blocks} if kind == 'delay' else {'unlockatblock': blocks}
unsigned = service('setidentitytimelock', name, request, True)
made = check(wallet, name, unsigned, changes, check_map)['vout'][0]['scriptPubKey']['identityprimary']
txid = sign_and_send(service, wallet, unsigned, os.environ.get('MOST_FEE', '0.01'))
timelock = made['timelock']
print(f"sent {txid}: {f'locked, with a delay of {timelock}' if kind == 'delay' else f'free to spend from block {timelock + 1}'}")
