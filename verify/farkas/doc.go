// Package farkas finds the flows of a matrix of whole numbers: the vectors of weights y >= 0, not
// all 0, for which every column of y*A is 0. If the matrix is that of a net, with a row for each
// place and a column for each way to fire, its flows are sums of tokens that no firing changes. The
// flows of its transpose are firings that together change nothing.
package farkas
