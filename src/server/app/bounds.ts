/** How much a client may send, and how slowly. */

/** Room for an order of 100 names with every part spelt out, and for a full batch of plain questions. */
export const MAX_REQUEST_BYTES = 256 * 1024

/** A larger batch gains nothing: the questions of one request share a commit long before. */
export const MAX_QUESTIONS = 1_000

/** Node itself stops at 16 KiB of headers, the URL among them. */
export const MAX_URL_LENGTH = 8 * 1024

/** In a path, percent-encoded. Longer ids, such as sets of names, go into a body. */
export const MAX_PATH_ID_LENGTH = 4 * 1024

/** A set of 100 names of 253 characters is the longest id there is. */
export const MAX_ID_LENGTH = 100 * 254

/** Names are checked by the catalog; this only keeps a message about a wrong one short. */
export const MAX_LIMIT_NAME_LENGTH = 256

/** Entries in one page of a list. */
export const MAX_LIST_PAGE = 1_000

/** No token of ours is longer than 50 characters. */
export const MAX_TOKEN_LENGTH = 256

/** Within this a request has sent its headers, or a client could hold a connection for nothing. */
export const HEADERS_TIMEOUT_MS = 10_000

/** Within this a request has been received whole. */
export const REQUEST_TIMEOUT_MS = 30_000

/** How often the two above are looked at; a slow client may stay this much longer. */
const TIMEOUT_CHECK_MS = 2_000

/** Longer than the 60 s after which proxies drop their end, so that they never meet a closed one. */
const KEEP_ALIVE_MS = 72_000

/** A socket on which nothing moves at all. */
const CONNECTION_TIMEOUT_MS = 90_000

/** So that long-lived clients spread again after a server was added. */
const MAX_REQUESTS_PER_SOCKET = 100_000

/** What the UCAN service takes: a batch of thirty invocations with their proofs has some 40 kB. */
export const MAX_UCAN_BYTES = 131_072

/** Subjects of one charge, as many as a gate looks up. */
export const MAX_CHARGE_SUBJECTS = 32

/** Of one subject; the gate counts bytes, and says so. */
export const MAX_SUBJECT_LENGTH = 1_024

/** Of any text about spending; the pillar's own rules are stricter, and say why. */
export const MAX_SPENDING_TEXT = 1_024

/** A file of plans to compare: a hundred thousand of them have some 15 MB. */
export const MAX_PLANS_BYTES = 64 * 1024 * 1024

/** A store that takes longer than this to read nothing is not ready. */
export const PROBE_TIMEOUT_MS = 2_000

/** How every server of ours treats slow clients and kept connections: options of Fastify. */
export const CONNECTION_BOUNDS = {
  connectionTimeout: CONNECTION_TIMEOUT_MS,
  keepAliveTimeout: KEEP_ALIVE_MS,
  requestTimeout: REQUEST_TIMEOUT_MS,
  maxRequestsPerSocket: MAX_REQUESTS_PER_SOCKET,
  http: {
    headersTimeout: HEADERS_TIMEOUT_MS,
    connectionsCheckingInterval: TIMEOUT_CHECK_MS,
  },
}

/** A length of time as text: the longest that means anything has half of it. */
export const MAX_DURATION_LENGTH = 64
