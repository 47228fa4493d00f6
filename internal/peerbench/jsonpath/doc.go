// Package jsonpath measures extract/jsonpath beside gjson and ojg.
//
//	go test -bench . ./jsonpath
package jsonpath
