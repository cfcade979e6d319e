// What the programs of tests share: events out, commands in, and a microphone that runs in real time.
'use strict';
const fs = require('fs');
const readline = require('readline');

const began = performance.now();
const rateHz = 16000, frameMs = 20, frameBytes = rateHz * 2 * frameMs / 1000;

// emit writes an event for the test. Sound goes as pcm, a Buffer.
function emit(type, fields = {}) {
  if (fields.pcm) fields = {...fields, pcm: fields.pcm.toString('base64')};
  process.stdout.write(JSON.stringify({type, at: performance.now() - began, ...fields}) + '\n');
}

// microphone calls send with frames of 20 ms (Buffers, 16-bit PCM at 16 kHz) for ever, silence where nothing is said.
// It returns a function that speaks a file.
function microphone(send) {
  let words = Buffer.alloc(0), sent = 0;
  const start = performance.now();
  const timer = setInterval(() => {
    for (; sent * frameMs < performance.now() - start; sent++) {
      const frame = Buffer.alloc(frameBytes);
      words.copy(frame, 0, 0, frameBytes);
      words = words.subarray(Math.min(frameBytes, words.length));
      send(frame);
    }
  }, 10);
  return {
    say(file) { words = Buffer.concat([words, fs.readFileSync(file)]); },
    stop() { clearInterval(timer); },
  };
}

// commands calls the function of each command: {"do":"say",...} calls on.say. Without a function of that name the
// program ends. When the test goes away, so does the program.
function commands(on) {
  const lines = readline.createInterface({input: process.stdin});
  lines.on('line', async (line) => {
    const command = JSON.parse(line);
    try {
      await on[command.do](command);
    } catch (err) {
      emit('failed', {text: `${command.do}: ${err.stack || err}`});
    }
  });
  lines.on('close', () => process.exit(0));
}

// end ends the program, when all output is written.
function end() { process.stdout.write('', () => process.exit(0)); }

module.exports = {emit, microphone, commands, end};
