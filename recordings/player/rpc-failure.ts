/** An error that the daemon returns. */
export class RpcFailure extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.name = 'RpcFailure';
    this.code = code;
  }
}

/** The daemon then answers with the method's whole help text. */
export class WrongParameterCount extends Error {}

/** The recorded daemon crashed on this call: the connection closes without an answer. */
export class DaemonDied extends Error {}
