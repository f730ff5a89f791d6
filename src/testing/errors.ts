/** The mistakes one can make with the testing tools. */
export type TestingErrorCode = 'TESTING_CLOCK_START' | 'TESTING_UNKNOWN_CASE'
