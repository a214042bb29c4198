import type { Transport } from '../../../../api/push/transport.ts';

/** The parts of a transport to a client that accepts everything. */
export const OPEN_TRANSPORT: Omit<Transport, 'send'> = {
  together(send) {
    send();
    return true;
  },
  buffered: () => 0,
  end: () => undefined,
};
