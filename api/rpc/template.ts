/** The name that all JSON-RPC paths share in metrics, usage and plans. */
export const RPC_TEMPLATE = '/rpc/:chain';
