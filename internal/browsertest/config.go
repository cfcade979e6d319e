package browsertest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// Config says what kind of browser to launch. The zero value is a browser that grants the
// microphone and hears Chromium's own test beeps from it.
type Config struct {
	// Microphone is the path of a WAV file (16-bit mono PCM, 48 kHz is best) that is heard as the
	// microphone. It starts at the first getUserMedia of the browser and is silent after its end.
	Microphone string
	// LoopMicrophone starts the WAV again at its end.
	LoopMicrophone bool
	// DenyMicrophone answers every question for the microphone with no, as a person would in the
	// prompt. It takes a browser that has prompts, as Desktop does.
	DenyMicrophone bool
	// NoMicrophone leaves the browser without any microphone.
	NoMicrophone bool
	// Desktop launches the browser that people have, with its windows and prompts. Otherwise the
	// headless shell is launched, where it is installed: the same Chromium without these, for half
	// of the processor time.
	Desktop bool
	// Executable is the Chromium to run. Default: $VOICEGW_CHROMIUM, else the first of
	// chromium-headless-shell (unless Desktop or DenyMicrophone), chromium, chromium-browser,
	// google-chrome and google-chrome-stable on PATH.
	Executable string
}

// executables are the names a whole Chromium goes by, the one of Debian first.
func executables() []string {
	return []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"}
}

// find returns the path of the Chromium to run, or an error that says how to install one.
func (c Config) find() (string, error) {
	names := executables()
	if !c.Desktop && !c.DenyMicrophone {
		names = append([]string{"chromium-headless-shell"}, names...)
	}
	if c.Executable != "" {
		names = []string{c.Executable}
	} else if path := os.Getenv("VOICEGW_CHROMIUM"); path != "" {
		names = []string{path}
	}
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("browsertest: find chromium: none of %q is installed: run make deps", names)
}

// commonFlags are on the command line of every browser: no window, nothing from the network, pages
// at full speed.
func commonFlags() []string {
	return []string{
		"--remote-debugging-pipe", "--headless", "--hide-scrollbars", "--mute-audio", "--window-size=1280,900",
		"--no-sandbox", // tests run as root in containers, and load only pages of ours
		"--no-first-run", "--no-default-browser-check", "--disable-gpu", "--disable-dev-shm-usage",
		"--disable-background-networking", "--disable-background-timer-throttling", "--disable-renderer-backgrounding",
		"--disable-backgrounding-occluded-windows", "--disable-breakpad", "--disable-client-side-phishing-detection",
		"--disable-component-update", "--disable-default-apps", "--disable-extensions", "--disable-features=Translate",
		"--disable-hang-monitor", "--disable-ipc-flooding-protection", "--disable-popup-blocking",
		"--disable-prompt-on-repost", "--disable-quic", "--disable-sync", "--metrics-recording-only",
		"--force-color-profile=srgb", "--password-store=basic", "--use-mock-keychain",
		"--autoplay-policy=no-user-gesture-required",
	}
}

// flags are the command line of the browser.
func (c Config) flags() ([]string, error) {
	list := commonFlags()
	if !c.NoMicrophone {
		list = append(list, "--use-fake-device-for-media-stream")
	}
	if c.DenyMicrophone {
		list = append(list, "--deny-permission-prompts")
	} else {
		list = append(list, "--use-fake-ui-for-media-stream")
	}
	if c.Microphone == "" {
		return list, nil
	}
	wav, err := filepath.Abs(c.Microphone)
	if err != nil {
		return nil, fmt.Errorf("browsertest: find microphone %s: %w", c.Microphone, err)
	}
	if _, err := os.Stat(wav); err != nil {
		return nil, fmt.Errorf("browsertest: open microphone: %w", err)
	}
	if !c.LoopMicrophone {
		wav += "%noloop"
	}
	return append(list, "--use-file-for-fake-audio-capture="+wav), nil
}
