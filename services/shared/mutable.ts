/** An object that is still being made: a copy of a row or a state, to whose fields values are assigned. */
export type Mutable<T> = { -readonly [K in keyof T]: T[K] };
