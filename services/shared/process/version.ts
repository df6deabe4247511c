/** The product's version, as package.json has it (held together by version.test.ts; dist has no package.json). */
export const VERSION = "0.1.0";
