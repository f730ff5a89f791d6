/** Where Headgate differs from the Boulder vectors on purpose: each row with its reason. */

export interface Difference {
  /** The code of the refusal, or the keys (of overrides and buckets) or names that are accepted. */
  readonly instead: { readonly refused: string } | { readonly accepted: readonly string[] }
  readonly reason: string
}

const refused = (code: string, reason: string): Difference => ({
  instead: { refused: code },
  reason,
})
const accepted = (reason: string, ...keys: readonly string[]): Difference => ({
  instead: { accepted: keys },
  reason,
})

const DAYS_AND_WEEKS = 'd and w are units too'
const SUB_MICROSECOND = 'a token cannot come back sooner than in a microsecond'
const ENTRY_WITHOUT_IDS = 'an entry without ids does nothing, so it is a mistake'
const SAME_ID_TWICE = 'one of the two would silently lose'
const ACCOUNT_ONLY = 'overrides of this limit are looked up by the account alone'
const LEADING_ZERO = 'no request carries leading zeros'
const MAPPED = 'an IPv4-mapped address is the IPv4 address'
const CANONICALISED = 'other spellings are canonicalised, not refused'
const NOT_REGISTERED = 'certificates are counted by registered domain, so it could never match'

const OTHER_BASES = 'readers disagree about 0o and 0b'

/** Whole documents of defaults that are in no vector. */
export const DOCUMENTS: Readonly<Record<string, Difference>> = {
  null: refused('DOCUMENT_EMPTY', 'LANDMINE: it switched every limit off without a word'),
  '~': refused('DOCUMENT_EMPTY', 'LANDMINE: it switched every limit off without a word'),
  'NewOrdersPerAccount: {burst: 0o24, count: 1, period: 1s}': refused('FIELD_TYPE', OTHER_BASES),
  'NewOrdersPerAccount: {burst: 0b11, count: 1, period: 1s}': refused('FIELD_TYPE', OTHER_BASES),
}

/** By the id of the case in defaults_yaml.json. */
export const DEFAULTS: Readonly<Record<string, Difference>> = {
  'legacy-octal-integer': refused('FIELD_TYPE', 'readers disagree about leading zeros'),
  'underscore-integer': refused('FIELD_TYPE', 'readers disagree about underscores'),
  'float-fractional': refused('FIELD_TYPE', 'LANDMINE: half a token was cut off'),
  'int64-max': refused('FIELD_VALUE', 'not exact in a double'),
  'period-days-unit': accepted(DAYS_AND_WEEKS, '3'),
  'period-weeks-unit': accepted(DAYS_AND_WEEKS, '3'),
  'period-micro-sign': refused('LIMIT_TOO_FAST', SUB_MICROSECOND),
  'period-max': refused('FIELD_VALUE', 'beyond 2^53 microseconds'),
  'emission-interval-zero': refused('LIMIT_TOO_FAST', SUB_MICROSECOND),
  'name-is-Unknown': refused('LIMIT_UNKNOWN', 'LANDMINE: it names no limit'),
  'two-documents': refused('DOCUMENT_MULTIPLE', 'LANDMINE: the second was ignored'),
}

/** By the id of the case in overrides_yaml.json. */
export const OVERRIDES: Readonly<Record<string, Difference>> = {
  'seed-format-plain-ids': accepted('plain ids are accepted too', '3:12345678', '3:87654321'),
  'seed-format-plain-ip-ids': accepted('plain ids are accepted too', '1:10.0.0.2'),
  'ids-missing': refused('FIELD_MISSING', ENTRY_WITHOUT_IDS),
  'ids-missing-and-burst-zero': refused('FIELD_MISSING', ENTRY_WITHOUT_IDS),
  'name-Unknown-no-ids': refused('LIMIT_UNKNOWN', 'it names no limit'),
  'null-limit-body': refused('FIELD_TYPE', ENTRY_WITHOUT_IDS),
  'same-id-twice-later-entry-wins': refused('ID_DUPLICATE', SAME_ID_TWICE),
  'same-id-twice-in-one-list': refused('ID_DUPLICATE', SAME_ID_TWICE),
  'period-days': accepted(DAYS_AND_WEEKS, '3:5'),
  'cpda-regid-domain-accepted-but-dead': refused('ID_INVALID', ACCOUNT_ONLY),
}

/** By enum and id of the case in id_validation.json, read with the reserved-range policy on. */
export const IDS: Readonly<Record<string, Difference>> = {
  '1 2602:80a:6000::1%eth0': refused('ID_INVALID', 'a zone means something on one machine only'),
  '1 2602:080a:6000::1': accepted(CANONICALISED, '1:2602:80a:6000::1'),
  '1 2602:80A:6000::1': accepted(CANONICALISED, '1:2602:80a:6000::1'),
  '1 2602:80a:6000:0:0:0:0:1': accepted(CANONICALISED, '1:2602:80a:6000::1'),
  '1 ::ffff:4070:7501': accepted(MAPPED, '1:64.112.117.1'),
  '9 2602:080a:6000::1': accepted(CANONICALISED, '9:2602:80a:6000::1'),
  '9 2602:80a:6000:0:0:0:0:1': accepted(CANONICALISED, '9:2602:80a:6000::1'),
  '9 2602:80a:6000::0:1': accepted(CANONICALISED, '9:2602:80a:6000::1'),
  '9 ::ffff:4070:7501': accepted(MAPPED, '9:64.112.117.1'),
  '9 ::ffff:64.112.117.1': accepted(MAPPED, '9:64.112.117.1'),
  '2 2602:080a:6000::/48': accepted(CANONICALISED, '2:2602:80a:6000::/48'),
  '2 2602:80A:6000::/48': accepted(CANONICALISED, '2:2602:80a:6000::/48'),
  '3 007': refused('ID_INVALID', LEADING_ZERO),
  '8 007': refused('ID_INVALID', LEADING_ZERO),
  '4 12345:www.example.com': refused('ID_INVALID', ACCOUNT_ONLY),
  '4 12345:*.example.com': refused('ID_INVALID', ACCOUNT_ONLY),
  '4 12345:64.112.117.1': refused('ID_INVALID', ACCOUNT_ONLY),
  '8 12345:example.com': refused('ID_INVALID', ACCOUNT_ONLY),
  '8 12345:www.example.com': refused('ID_INVALID', ACCOUNT_ONLY),
  '8 12345:*.example.com': refused('ID_INVALID', ACCOUNT_ONLY),
  '8 0:example.com': refused('ID_INVALID', ACCOUNT_ONLY),
  '6 12345:example.com': refused('ID_INVALID', ACCOUNT_ONLY),
  '6 12345:www.example.com': refused('ID_INVALID', ACCOUNT_ONLY),
  '5 www.example.com': refused('ID_INVALID', NOT_REGISTERED),
  '5 *.example.com': refused('ID_INVALID', NOT_REGISTERED),
  '5 a.b.c.d.e.f.g.h.i.com': refused('ID_INVALID', NOT_REGISTERED),
  '5 2602:80a:6000::0': accepted(CANONICALISED, '5:2602:80a:6000::/64'),
  '5 ::ffff:64.112.117.1': accepted(MAPPED, '5:64.112.117.1/32'),
  '7 example.com,2602:080a:6000::1': accepted(
    CANONICALISED,
    // The SHA-256 of `example.com,2602:80a:6000::1`.
    '7:f325d25ddbc748943b980963a788d912be440884fb82862dc4b1ecf94d22863c',
  ),
}

/** By limit and input of the case in bucket_keys.json. */
export const BUCKETS: Readonly<Record<string, Difference>> = {
  'NewRegistrationsPerIPAddress {"subscriberIP":"::ffff:1.2.3.4"}': accepted(MAPPED, '1:1.2.3.4'),
  'LimitOverrideRequestsPerIPAddress {"subscriberIP":"::ffff:1.2.3.4"}': accepted(
    MAPPED,
    '9:1.2.3.4',
  ),
  'NewRegistrationsPerIPv6Range {"subscriberIP":"::ffff:1.2.3.4"}': refused(
    'PARTS_UNSUPPORTED',
    MAPPED,
  ),
  'FailedAuthorizationsPerDomainPerAccount {"regId":1337}': refused(
    'PARTS_MISSING',
    'the key of an override, in which nothing is counted',
  ),
}

/** By bucket key of the case in errors.json: the sentence that is told, up to the link. */
export const DENIALS: Readonly<Record<string, { message: string; reason: string }>> = {
  '4:12345:2602:80a:6000::1': {
    message:
      'too many failed authorizations (7) for "2602:80a:6000::1" in the last 1h0m0s, ' +
      'retry after 1970-01-01 00:00:00 UTC: see ' +
      'https://letsencrypt.org/docs/rate-limits/#authorization-failures-per-identifier-per-account',
    reason: 'BUG: only the text after the last colon was told',
  },
  '5:2602:80a:6000::/64': {
    message:
      'too many certificates (50) already issued for "2602:80a:6000::/64" in the last 168h0m0s, ' +
      'retry after 1970-01-01 00:00:00 UTC: see ' +
      'https://letsencrypt.org/docs/rate-limits/#new-certificates-per-registered-domain',
    reason: 'BUG: only the text after the last colon was told',
  },
  '8:1:example.com': {
    message:
      'too many failed authorizations (1152) for "example.com" in the last 24h0m0s, ' +
      'retry after 1970-01-01 00:00:00 UTC',
    reason: 'a limit that can be asked for by name must be able to say why it refuses',
  },
}
