/** The door `headgate/spending`: plans, budgets, holds and a ledger for money spent on behalf of users. */

export type { SpendingAdministration } from './administration.ts'
export {
  formatAllowance,
  formatAmount,
  HBAR,
  parseAllowance,
  parseAmount,
  parseQuantity,
  type Unit,
} from './amount.ts'
export type {
  BookingAnswer,
  PlanStanding,
  SpendingAnswer,
  Standing,
  Standings,
} from './answer.ts'
export type {
  CaptureAsk,
  CheckAsk,
  HoldAsk,
  Note,
  Purpose,
  RecordAsk,
  ReleaseAsk,
  SettleAsk,
  SpendingMode,
} from './ask.ts'
export type { BalanceReading } from './balance.ts'
export { type BalancePollOptions, startBalancePoll } from './balance-poll.ts'
export type { SpendingBooks } from './books.ts'
export type { SpendingWindow } from './calendar.ts'
export {
  bookExpense,
  type CaptureQueue,
  type CaptureQueueOptions,
  type Expense,
  openCaptureQueue,
} from './capture-queue.ts'
export type { Compaction } from './compaction.ts'
export type { Draw, EntryKind, Flag, LedgerEntry, Move, Pot } from './entry.ts'
export { type ExchangeRate, rateOf, type StatedRate } from './exchange-rate.ts'
export { brokenLine, type ExportFormat } from './export.ts'
export { createHBarLimitService, type HBarLimitService } from './facade.ts'
export {
  estimateFileFee,
  FEE_TABLES,
  type FeeErrorCode,
  type FeeTable,
  type FeeTableName,
  type FileFee,
} from './fee-estimate.ts'
export type { GrantAnswer, GrantAsk } from './grant-step.ts'
export type { HistoryPage, PlanUsage, WindowUsage } from './history.ts'
export { loadPlans } from './load-plans.ts'
export { createMirrorNode, type MirrorNode, type MirrorNodeOptions } from './mirror-node.ts'
export type { SpendingErrorCode } from './mistake.ts'
export type { Family, Party } from './party.ts'
export type { Allowance, Plan, PlanCatalog, SpendingSettings, Tier } from './plan.ts'
export { buildPlanCatalog, type ConfiguredPlans, NO_PLANS } from './plan-catalog.ts'
export type { PlanDetails } from './plan-details.ts'
export { changesNothing, diffPlans, type LinkChange, type PlanDiff } from './plan-diff.ts'
export type { PlanEntry } from './plan-entry.ts'
export { parsePlans, readPlans } from './plan-file.ts'
export { PlanError, type PlanErrorCode } from './plan-mistake.ts'
export type { LinkAsk, PlanAsk } from './plans-admin.ts'
export type { Pulse } from './pulse.ts'
export type { QueueErrorCode } from './queue-mistake.ts'
export { type RatePoll, type RatePollOptions, startRatePoll } from './rate-poll.ts'
export type { SpendingReason } from './reason.ts'
export {
  createRelayLimiter,
  HBAR_LIMIT_EXCEEDED,
  type HbarLimitError,
  type RelayLimiter,
  toLimitError,
} from './relay-adapter.ts'
export type { SpendingReport } from './report.ts'
export {
  type CompleteSettings,
  completeSettings,
  type PlansSource,
  type SettingErrorCode,
  type SettingsDraft,
} from './settings-draft.ts'
export { type Environment, readSpendingEnvironment } from './settings-env.ts'
export { readSpendingSection } from './settings-section.ts'
export {
  type AdmissionVerb,
  type BookingVerb,
  createSpending,
  type Spending,
  type SpendingEvent,
  type SpendingOptions,
} from './spending.ts'
export type { Drift, Sums, Verification } from './verify.ts'
