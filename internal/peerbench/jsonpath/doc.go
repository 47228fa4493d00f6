// Package jsonpath measures extract/jsonpath beside gjson.
//
//	go test -bench . ./jsonpath
package jsonpath
