package opus

// EncoderRateHz is the rate of the audio that an Encoder takes, in frames of 20 ms.
const EncoderRateHz = 24000
