/** The door `headgate/spending`: plans, budgets, holds and a ledger for money spent on behalf of users. */

export type { ClockVerdict, MachineReading } from '../core/machine-clock.ts'
export type { QueueErrorCode } from '../lib/disk-queue/queue-log.ts'
export { thisMachine } from '../lib/machine.ts'
export type { TimeSource } from '../lib/time-sources.ts'
export type { SpendingAdministration } from './admin.ts'
export {
  formatAllowance,
  formatAmount,
  HBAR,
  parseAllowance,
  parseAmount,
  parseQuantity,
  type Unit,
} from './amount.ts'
export type { ClockWitness } from './clock.ts'
export type { ClockRepairAsk, SpendingClockRepair } from './clock-repair.ts'
export type {
  PlanStanding,
  SpendingAnswer,
  SpendingCharge,
  SpendingReason,
  Standing,
  Standings,
} from './flow/answer.ts'
export type {
  CanonicalMatter,
  CaptureAsk,
  CheckAsk,
  ExtendAsk,
  Family,
  HoldAsk,
  Matter,
  Note,
  Purpose,
  RecordAsk,
  ReleaseAsk,
  SettleAsk,
  SpendingMode,
} from './flow/ask.ts'
export type { Party } from './flow/balances.ts'
export type { OpenHold, OpenHolds, OpenHoldsAsk } from './flow/open-holds.ts'
export type { Reversal, ReverseAsk } from './flow/reversal.ts'
export {
  type ExchangeRate,
  type RatePoll,
  type RatePollOptions,
  rateOf,
  type StatedRate,
  startRatePoll,
} from './hedera/exchange-rate.ts'
export {
  estimateFileFee,
  FEE_TABLES,
  type FeeErrorCode,
  type FeeTable,
  type FeeTableName,
  type FileFee,
} from './hedera/fee-estimate.ts'
export { createMirrorNode, type MirrorNode, type MirrorNodeOptions } from './hedera/mirror-node.ts'
export {
  createHBarLimitService,
  createRelayLimiter,
  HBAR_LIMIT_EXCEEDED,
  type HBarLimitService,
  type HbarLimitError,
  type NetworkFee,
  type RelayLimiter,
  type RelayRequest,
  toLimitError,
} from './hedera/relay.ts'
export type { PaidFor, RelayLogger, Tinybars } from './hedera/relay-desk.ts'
export type { Checkpoint } from './ledger/checkpoint.ts'
export type { Compaction } from './ledger/compaction.ts'
export type {
  Draw,
  EntryFlag,
  EntryKind,
  LedgerEntry,
  Move,
  Pot,
  WindowSum,
} from './ledger/entry.ts'
export type { ExportFormat } from './ledger/export.ts'
export type {
  AnchorState,
  ExportFinding,
  ExportFindingKind,
  ExportVerification,
  Finding,
  FindingKind,
  LedgerHead,
  Verification,
} from './ledger/finding.ts'
export type { HistoryAsk, HistoryOrder, PlanHistory } from './ledger/history.ts'
export type {
  PlanUsage,
  SpendingLedger,
  SpendingOverview,
  SpendingReport,
  TierUsage,
  WindowUsage,
} from './ledger/ledger.ts'
export { verifyExport } from './ledger/verify-export.ts'
export { type Anchor, parseAnchor } from './ledger/walk.ts'
export type { SpendingErrorCode } from './mistake.ts'
export {
  type BalancePollOptions,
  type BalanceReading,
  startBalancePoll,
} from './operator/balance.ts'
export {
  type CaptureQueue,
  type CaptureQueueOptions,
  chargeExpense,
  type Expense,
  openCaptureQueue,
} from './operator/capture-queue.ts'
export type { PlanAsk, PlanChangeAsk, RetireAsk } from './plans/administration.ts'
export type { GrantStanding } from './plans/funds.ts'
export type { GrantAnswer, GrantAsk, VoidAnswer, VoidAsk } from './plans/grants.ts'
export type { LinkAsk, PlanDetails } from './plans/links.ts'
export type { Allowance, Plan, PlanCatalog, SpendingSettings, Tier } from './plans/plan.ts'
export {
  changesNothing,
  diffPlans,
  type FieldChange,
  type LinkChange,
  type PlanDiff,
  planChanges,
} from './plans/plan-diff.ts'
export type { PlanEntry } from './plans/plan-entry.ts'
export { PlanError, type PlanErrorCode } from './plans/plan-fields.ts'
export { loadPlans, parsePlans, readPlans } from './plans/plan-file.ts'
export { buildPlanCatalog, type ConfiguredPlans, NO_PLANS } from './plans/resolve.ts'
export type { PlansSource } from './settings/readers.ts'
export {
  type CompleteSettings,
  completeSettings,
  type GivenSpending,
  readSpendingEnvironment,
  readSpendingSection,
  type SettingErrorCode,
} from './settings/settings.ts'
export {
  type AdmissionVerb,
  type ChargeVerb,
  createSpending,
  type Spending,
  type SpendingEvent,
  type SpendingOptions,
} from './spending.ts'
export {
  nothingPaid,
  type PaidWork,
  type Sponsor,
  type SponsorAnswer,
  type SponsorAsk,
  SponsorError,
  type SponsorErrorCode,
  type SponsorPayment,
  type SponsorRefusal,
} from './sponsor.ts'
export {
  type AllowanceOption,
  type AmountOption,
  type PlanOption,
  spending,
  type TypedSpendingOptions,
} from './typed-spending.ts'
export type { SpendingWindow } from './windows/calendar.ts'
