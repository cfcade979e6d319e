package audio

// The tables of ITU-T G.722. Nothing writes to them.

// g722Mirror is half of the quadrature mirror filter's 24 coefficients (table 11).
var g722Mirror = [12]int{3, -11, 12, 32, -210, 951, 3876, -805, 362, -156, 53, -11}

// g722Exp is the mantissa of the exponential of the scale (table 12, ILB).
var g722Exp = [32]int{
	2048, 2093, 2139, 2186, 2233, 2282, 2332, 2383, 2435, 2489, 2543, 2599, 2656, 2714, 2774, 2834,
	2896, 2960, 3025, 3091, 3158, 3228, 3298, 3371, 3444, 3520, 3597, 3676, 3756, 3838, 3922, 4008,
}

// g722Decision holds the decision levels of the lower band (table 14, Q6).
var g722Decision = [30]int{
	0, 35, 72, 110, 150, 190, 233, 276, 323, 370, 422, 473, 530, 587, 650,
	714, 786, 858, 940, 1023, 1121, 1219, 1339, 1458, 1612, 1765, 1980, 2195, 2557, 2919,
}

// g722Positive and g722Negative are the codes of the decision intervals (table 14, ILP and ILN).
var (
	g722Positive = [31]int{
		0, 61, 60, 59, 58, 57, 56, 55, 54, 53, 52, 51, 50, 49, 48, 47,
		46, 45, 44, 43, 42, 41, 40, 39, 38, 37, 36, 35, 34, 33, 32,
	}
	g722Negative = [31]int{
		0, 63, 62, 31, 30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20, 19,
		18, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4,
	}
)

// g722Rank is the distance of a four-bit code from zero (RL42). g722Low (WL) and g722High (WH, by
// the low bit of the code) are the steps of the logarithm of the scale.
var (
	g722Rank = [16]int{0, 7, 6, 5, 4, 3, 2, 1, 7, 6, 5, 4, 3, 2, 1, 0}
	g722Low  = [8]int{-60, -30, 58, 172, 334, 538, 1198, 3042}
	g722High = [2]int{798, -214}
)

// g722Quantum2, g722Quantum4 and g722Quantum6 are the values of the codes of two, four and six bits
// (tables 18, 17 and 15: QM2, QM4 and QM6).
var (
	g722Quantum2 = [4]int{-7408, -1616, 7408, 1616}
	g722Quantum4 = [16]int{
		0, -20456, -12896, -8968, -6288, -4240, -2584, -1200, 20456, 12896, 8968, 6288, 4240, 2584, 1200, 0,
	}
	g722Quantum6 = [64]int{
		-136, -136, -136, -136, -24808, -21904, -19008, -16704, -14984, -13512, -12280, -11192, -10232, -9360, -8576,
		-7856, -7192, -6576, -6000, -5456, -4944, -4464, -4008, -3576, -3168, -2776, -2400, -2032, -1688, -1360, -1040,
		-728, 24808, 21904, 19008, 16704, 14984, 13512, 12280, 11192, 10232, 9360, 8576, 7856, 7192, 6576, 6000, 5456,
		4944, 4464, 4008, 3576, 3168, 2776, 2400, 2032, 1688, 1360, 1040, 728, 432, 136, -432, -136,
	}
)
