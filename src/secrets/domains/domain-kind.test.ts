/** The types of the domains of CIP-40 and of "ODIS RateLimit Structures", as the documents map them. */
import { describe, expect, test } from 'vitest'
import {
  LinearBackoffDomainOptions,
  NotBeforeDomain,
  PepperedDomain,
  PepperedDomainOptions,
} from './cip40-examples.ts'
import {
  CloudBackupDomain,
  CloudBackupDomain2,
  CloudBackupDomainOptions,
  CloudBackupDomainOptions2,
} from './cloud-backup.ts'
import { PhoneNumberDomain, PhoneNumberDomainOptions } from './phone-number.ts'
import { SmartContractDomain, SmartContractDomainOptions } from './smart-contract.ts'

describe('type strings', () => {
  const OPTIONAL_STRING = 'Optional<string>(bool defined,string value)'
  const OPTIONAL_NUMBER = 'Optional<uint256>(bool defined,uint256 value)'
  const rows: readonly (readonly [{ typeString: string }, string])[] = [
    [
      CloudBackupDomain,
      `CloudBackupDomain(string name,string publicKey,RateLimit rateLimit,string version)${OPTIONAL_NUMBER}RateLimit(Stage[] stages)Stage(Optional<uint256> batch,bool cumulative,string delay,Optional<uint256> repetitions)`,
    ],
    [CloudBackupDomainOptions, 'CloudBackupDomainOptions(string signature)'],
    [
      CloudBackupDomain2,
      `CloudBackupDomain(string name,string publicKey,RateLimit rateLimit,string version)${OPTIONAL_NUMBER}RateLimit(Stage[] stages)Stage(Optional<uint256> batch,bool cumulative,string delay,bool endless,Optional<uint256> repetitions)`,
    ],
    [
      CloudBackupDomainOptions2,
      `CloudBackupDomainOptions(Optional<uint256> nonce,string signature)${OPTIONAL_NUMBER}`,
    ],
    [LinearBackoffDomainOptions, 'LinearBackoffDomainOptions()'],
    [NotBeforeDomain, 'NotBeforeDomain(string name,uint256 notBefore,string version)'],
    [
      PepperedDomain,
      `PepperedDomain(string address,Optional<uint256> cap,string name,string version)${OPTIONAL_NUMBER}`,
    ],
    [PepperedDomainOptions, 'PepperedDomainOptions(string signature)'],
    [PhoneNumberDomain, 'PhoneNumberDomain(string name,string version)'],
    [
      PhoneNumberDomainOptions,
      `PhoneNumberDomainOptions(string account,string authorization,Optional<string> hashedPhoneNumber)${OPTIONAL_STRING}`,
    ],
    [
      SmartContractDomain,
      `SmartContractDomain(uint256 chainId,string contractAddress,Optional<string> domainData,string name,string version)${OPTIONAL_STRING}`,
    ],
    [
      SmartContractDomainOptions,
      `SmartContractDomainOptions(string authorization,Optional<uint256> notBeforeBlock)${OPTIONAL_NUMBER}`,
    ],
  ]
  for (const [type, text] of rows) {
    test(text.slice(0, text.indexOf(')') + 1), () => expect(type.typeString).toBe(text))
  }
})
