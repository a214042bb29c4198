/** Addresses of protocol keys that control outputs pay, the same on every Verus chain. They belong to no person. */

export const SYSTEM_ADDRESSES: ReadonlySet<string> = new Set([
  'RCG8KwJNDVwpUBcdoa6AoHqHVJsA1uMYMR', // stake guard
  'RP7id3CzCnwvzNUZesYJM6ekvsxpEzMqB1', // currency definition
  'RQWMeecjGFF3ZAVeSimRbyG9iMDUHPY5Ny', // notary evidence
  'RMYbaxFsCT1xfMmwLCCYAVf2DsxcDTtBmx', // earned notarization
  'RDTq9qn1Lthv7fvsdbWz36mGp8HK9XaruZ', // accepted notarization
  'RRbKYitLH9EhQCvCo4bPZqJx3TWxASadxE', // finalized notarization
  'RMXeZGxxRuABFkT4uLSCeuJHLegBNGZq8D', // reserve output
  'REuGNkgunnw1J4Zx6Y9UCp8YHVZqYATe9D', // advanced name reservation
  'RTqQe58LSj2yr5CrwYFwcsAQ1edQwmrkUU', // reserve transfer
  'RFw9AVfgNKcHe2Vp2eyzHrX65aFD9Ky8df', // reserve deposit
  'RGkrs7SndcpsV61oKK2jYdMiU8PgkLU2qP', // cross-chain export
  'RKLN7wFhbrJFkPG8XkKteErAe5CjqoddTm', // cross-chain import
  'REU1HKkmdwdxKMpfD3QoxeERYd9tfMN6n9', // currency state
  'RS545EBdK5AzPTaGHNUg78wFuuAzBb74FB', // identity primary
  'RG6My2zwh9hBFSgUhZ5UmmUtxBap57aU4N', // identity revoke
  'RRw9rJMPwdNqC1wgXn5vryJwMDyBgpXjYT', // identity recover
  'RCySaThHfVBcHZgjJGoBw3un4vcsRJNPYw', // commitment
  'RDbzJU8rEv4CkMABNUnKQoKDTfnikSm9fM', // name reservation
  'REL7oLNeaeoQB1XauiHfcvjKMZC52Uj5xF', // finalized export
  'RQ55dLQ7uGnLx8scXfkaFV6QS6qVBGyxAG', // fee pool
]);
