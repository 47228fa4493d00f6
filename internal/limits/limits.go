// Package limits names the bounds that several packages share: sizes, counts and depths past which something is
// refused or cut with a typed error. A bound that only one package needs stands in that package, as a constant or as a
// field of its options.
//
// Every bound says its unit and has a test at it and one past it.
package limits
