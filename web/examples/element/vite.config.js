// The client finds its audio worklets by their addresses, so the development server must not bundle it.
export default { optimizeDeps: { exclude: ["voicegw"] } };
