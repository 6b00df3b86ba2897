// TLS for the edge: a certificate and its key, read from PEM files.
//
// Internal to the edge. TLS 1.2 and newer. A context is never changed: connections keep the one they began
// with, and a renewed certificate makes a new one.
//
//   QUIRE_ASSIGN_OR_RETURN(TlsContext tls, load_tls("server.crt", "server.key"));
#pragma once

#include <boost/asio/ssl/context.hpp>
#include <memory>
#include <string>

#include "base/result.h"

namespace quire::server {

using TlsContext = std::shared_ptr<boost::asio::ssl::context>;

// certificate: the server's own first, then those that sign it. Errors: kIo (not readable), kCorrupt (no
// certificate or key in it, a key with a passphrase, a key of another certificate).
Result<TlsContext> load_tls(const std::string& certificate, const std::string& key);

}  // namespace quire::server
