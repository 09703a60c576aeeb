// Gateways that can only listen on all addresses listen on loopback here.
const net = require("node:net");
const { listen } = net.Server.prototype;
net.Server.prototype.listen = function (first, ...rest) {
  if (typeof first === "object" && first !== null && "port" in first) {
    return listen.call(this, { ...first, host: "127.0.0.1" }, ...rest);
  }
  if (typeof first === "number" || typeof first === "string") {
    const others = rest.filter((each) => typeof each !== "string");
    return listen.call(this, { port: Number(first), host: "127.0.0.1" }, ...others.filter((each) => typeof each === "function"));
  }
  return listen.call(this, first, ...rest);
};
