/**
 * The three requests of CIP-40 as EIP-712 structs, for the types of one kind of domain.
 *
 * The deployed domain's requests carry their type's name as a first, hashed field. Other domains
 * follow the document, which has none; their clients may still send it.
 */
import { type Field, quote, refuseField } from '../documents/index.ts'
import type { Endpoint } from './claim.ts'
import { string } from './eip712/atoms.ts'
import { optional, type StructType, struct } from './eip712/struct.ts'
import { type Context, hashTypedData } from './eip712/typed-data.ts'

export interface RequestTypes<D, O> {
  readonly domain: StructType<D>
  readonly options: StructType<O>
  readonly tagged: boolean
}

export interface RequestType<D, O> {
  readonly typeString: string
  read(body: Field): ReadRequest<D, O>
}

export interface ReadRequest<D, O> {
  readonly domain: D
  readonly options: O
  /** As base64; only where something is to be signed. */
  readonly blindedMessage: string | undefined
  /** The hash of the request with these options instead of its own. */
  hashWith(options: O): Uint8Array
}

export const requestType = <D, O>(
  endpoint: Endpoint,
  { domain, options, tagged }: RequestTypes<D, O>,
): RequestType<D, O> => {
  const { name, context } = REQUESTS[endpoint]
  const common = { domain, options, sessionID: optional(string) }
  const blinded = { ...common, blindedMessage: string }
  if (endpoint === 'sign') {
    return tagged
      ? reader(context, struct(name, { ...blinded, type: string }, 'type'), tagged)
      : reader(context, struct(name, blinded), tagged)
  }
  return tagged
    ? reader(context, struct(name, { ...common, type: string }, 'type'), tagged)
    : reader(context, struct(name, common), tagged)
}

/** The version is that of the request, not of the domain; the second name is the document's own. */
export const REQUESTS: Readonly<
  Record<Endpoint, { readonly name: string; readonly context: Context }>
> = {
  sign: {
    name: 'DomainRestrictedSignatureRequest',
    context: { name: 'ODIS Domain Restricted Signature Request', version: '1' },
  },
  quotaStatus: {
    name: 'DomainQuotaStatusRequest',
    context: { name: 'ODIS Domain Quota Status', version: '1' },
  },
  disable: {
    name: 'DisableDomainRequest',
    context: { name: 'ODIS Disable Domain Request', version: '1' },
  },
}

interface Request<D, O> {
  readonly domain: D
  readonly options: O
  readonly blindedMessage?: string
}

function reader<D, O, R extends Request<D, O>>(
  context: Context,
  type: StructType<R>,
  tagged: boolean,
): RequestType<D, O> {
  return {
    typeString: type.typeString,
    read: (body) => {
      const request = type.read(tagged ? body : withoutTag(body))
      checkTag(body, type.name)
      return {
        domain: request.domain,
        options: request.options,
        blindedMessage: request.blindedMessage,
        hashWith: (options) => hashTypedData(context, type, { ...request, options }),
      }
    },
  }
}

function checkTag({ thing, node }: Field, name: string): void {
  if (node.kind !== 'map') return
  const tag = node.entries.find(({ key }) => key === 'type')?.value
  if (tag === undefined || (tag.kind === 'scalar' && tag.quoted && tag.text === name)) return
  refuseField({ thing: `${thing}.type`, node: tag }, 'FIELD_VALUE', `must be ${quote(name)}`)
}

function withoutTag(body: Field): Field {
  const { node } = body
  if (node.kind !== 'map') return body
  return { ...body, node: { ...node, entries: node.entries.filter(({ key }) => key !== 'type') } }
}
