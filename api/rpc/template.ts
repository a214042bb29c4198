/** The name of every JSON-RPC path in metrics, usage and plans. */
export const RPC_TEMPLATE = '/rpc/:chain';
