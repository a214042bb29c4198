/** 32 MiB: the largest legal block (2 MB; 64 MB of verbose JSON) packs to less than 8. More is refused. */
export const MAX_RECORD_BYTES = 32 * 1024 * 1024;
