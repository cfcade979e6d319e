// The element of index.html, with a tool that changes the page.
import "voicegw/element";

const call = document.querySelector("voicegw-call");
call.options = {
  tools: {
    paint_page: ({ colour }) => {
      const before = document.body.style.background;
      document.body.style.background = colour;
      return { before };
    },
  },
};
call.client.on("end", ({ reason }) => console.info(`The call ended: ${reason}.`));
