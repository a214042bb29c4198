/** The published list of methods, written independently of the table that tests check against it. */
export const DAEMON_METHODS =
  `coinsupply convertpassphrase createmultisig createrawtransaction decoderawtransaction decodescript decryptdata
estimateconversion estimatefee estimatepriority getaddressbalance getaddressdeltas getaddressmempool getaddresstxids
getaddressutxos getbestproofroot getblock getblockchaininfo getblockdeltas getblockhashes getblockheader getblocksubsidy
getchaintips getchaintxstats getcurrency getcurrencybalance getcurrencyconverters getcurrencystate getcurrencytrust
getdeprecationinfo getdifficulty getexports getidentitieswithaddress getidentitieswithrecovery
getidentitieswithrevocation getidentity getidentitycontent getidentitytrust getimports getinfo getinitialcurrencystate
getlastimportfrom getlaunchinfo getlocalsolps getmempoolinfo getminingdistribution getmininginfo getnetworkhashps
getnetworkinfo getnetworksolps getnotarizationdata getnotarizationproofs getoffers getpendingtransfers getrawmempool
getrawtransaction getreservedeposits getsaplingtree getsnapshot getspentinfo gettxout gettxoutproof gettxoutsetinfo
getvdxfid hashdata help listcurrencies listidentities listopenoffers recoveridentity registeridentity revokeidentity
sendcurrency sendrawtransaction setidentitytimelock updateidentity validateaddress verifychain verifyhash verifymessage
verifysignature verifytxoutproof`.split(/\s+/);

/** The methods that the index may answer without a daemon come first. */
export const PUBLISHED_METHODS = ['getbestblockhash', 'getblockcount', 'getblockhash', ...DAEMON_METHODS];
