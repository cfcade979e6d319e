package audio_test

import (
	"fmt"
	"slices"

	"github.com/voicegw/voicegw/audio"
	"github.com/voicegw/voicegw/audio/audiotest"
)

// Example converts sound at 48 kHz to the edges of speech.
func Example() {
	resampler, err := audio.NewResampler(48000, audio.DetectorRateHz)
	if err != nil {
		panic(err)
	}
	framer, err := audio.NewFramer(audio.DetectorRateHz)
	if err != nil {
		panic(err)
	}
	activity, err := audio.NewActivity(audio.ActivityConfig{})
	if err != nil {
		panic(err)
	}
	detector := audio.NewDetector()

	input := audiotest.Resample(audiotest.Speech("hello"), 48000).Samples
	input = append(input, make([]int16, 48000)...) // a second of silence
	frames := 0
	var pcm []int16
	for chunk := range slices.Chunk(input, 1000) { // pieces of any length
		pcm = resampler.Resample(pcm[:0], chunk)
		framer.Push(pcm, func(frame []int16) {
			frames++
			switch edge := activity.Frame(detector.Score(frame), false); edge {
			case audio.Start, audio.Confirm, audio.Stop:
				fmt.Printf("%v: %v\n", length(frames), edge)
			}
		})
	}
	// Output:
	// 360ms: start
	// 600ms: confirm
	// 2.64s: stop
}

// ExamplePlayer shows that the answer to a clear counts whole frames.
func ExamplePlayer() {
	player := audio.NewPlayer(24000)
	player.Push(0, 1, make([]int16, 24000)) // a second of reply 1
	player.PushMark(0, 1, "end")

	player.Advance(length(5))
	fmt.Println("played", player.PlayedMS(1), "ms")

	player.Clear(length(5)+audio.FrameDuration/2, 1)
	fmt.Println("cleared at", player.PlayedMS(1), "ms, queued", player.Queued(), "marks", len(player.Reached()))
	// Output:
	// played 100 ms
	// cleared at 100 ms, queued 0 marks 0
}
