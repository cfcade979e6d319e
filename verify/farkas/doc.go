// Package farkas finds the flows of a matrix of whole numbers: the vectors of
// weights y >= 0, not all 0, for which every column of y*A is 0. Of the matrix of
// a net, with a row for each place and a column for each way to fire, they are
// sums of tokens that no firing changes; of its transpose they are firings that
// together change nothing.
package farkas
