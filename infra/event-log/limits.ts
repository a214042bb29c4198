/** 32 MiB; larger records are refused. The largest legal block (2 MB; 64 MB as verbose JSON) compresses to less than 8 MB. */
export const MAX_RECORD_BYTES = 32 * 1024 * 1024;
