//! Tests of the language as a whole; what concerns one module stands in it.

mod codes;
