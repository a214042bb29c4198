"""Follows the newest update of an identity, or a given transaction, from the mempool to enough confirmations, through reorganisations.
Prints a line for each change. Exit code 0: confirmed; 1: it can never be confirmed.

    python3 examples/wallets/watch_identity.py SERVICE NAME@ [CONFIRMATIONS] [TXID]      POLL_SECONDS: polling interval, 15
"""
import os
import sys
import time

from rpc import RpcError, connect, passes, read_arguments, whole_number

NOT_FOUND = -5
service, identity, confirmations, given = read_arguments('SERVICE', 'NAME@', '[CONFIRMATIONS]', '[TXID]')
rpc = connect(service)
enough = whole_number(confirmations or '10', 'CONFIRMATIONS')
poll_seconds = float(os.environ.get('POLL_SECONDS', '15'))
# Height -1 includes the mempool.
txid = given or rpc('getidentity', identity, -1)['txid']
expiry = float('inf')
was_confirmed = False
told = ''


def find():
    """Returns None when the transaction is neither in a block nor in the mempool."""
    try:
        return rpc('getrawtransaction', txid, 1)
    except RpcError as error:
        if error.code == NOT_FOUND:
            return None
        raise


def tell(line):
    global told
    if line != told:
        print(line, flush=True)
    told = line


def look():
    """Returns whether the transaction has enough confirmations, or None when it can never be confirmed."""
    global expiry, was_confirmed
    transaction = find()
    # A transaction in the mempool has no height; one that only an abandoned branch contains has height -1.
    depth = transaction.get('confirmations', 0) if transaction else 0
    if transaction and transaction['expiryheight']:
        expiry = transaction['expiryheight']
    if was_confirmed and depth == 0:
        tell('taken back by a reorganisation')
    was_confirmed = depth > 0
    if depth > 0:
        tell(f"{txid} has {depth} confirmations, in block {transaction['height']}")
    elif transaction and 'height' not in transaction:
        tell(f'{txid} is pending')
    else:
        # After a reorganisation a transaction returns to the mempool, until it expires.
        if rpc('getblockchaininfo')['blocks'] >= expiry:
            return None
        tell(f'{txid} is neither pending nor confirmed')
    return depth >= enough


is_done = False
while not is_done:
    try:
        is_done = look()
    except Exception as error:
        if not passes(error):
            raise
        print(error, file=sys.stderr)
    if is_done is None:
        tell(f'{txid} expired at block {expiry}: build, check and sign it anew')
        sys.exit(1)
    if not is_done:
        time.sleep(poll_seconds)
newest = rpc('getidentity', identity)['txid']
print('confirmed: the state of the identity' if newest == txid else f'confirmed, and replaced since by {newest}')
