/** What counts as a trade, for everything that sums them: a preconversion, a mint and a burn are none. */
export const IS_TRADE_SQL = "status = 'completed' AND kind IN ('convert', 'via')";
