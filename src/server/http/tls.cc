#include "server/http/tls.h"

#include <boost/asio/buffer.hpp>

#include "base/mapped_file.h"

namespace quire::server {
namespace {

namespace asio = boost::asio;
namespace ssl = boost::asio::ssl;
using boost::system::error_code;

// A server has nobody to ask for a passphrase.
std::string no_passphrase(size_t, ssl::context::password_purpose) { return {}; }

asio::const_buffer buffer_of(const MappedFile& file) {
  return asio::buffer(file.bytes().data(), file.bytes().size());
}

}  // namespace

Result<TlsContext> load_tls(const std::string& certificate, const std::string& key) {
  QUIRE_ASSIGN_OR_RETURN(const MappedFile certificate_file, MappedFile::open(certificate, FileAccess::kRead));
  QUIRE_ASSIGN_OR_RETURN(const MappedFile key_file, MappedFile::open(key, FileAccess::kRead));
  auto context = std::make_shared<ssl::context>(ssl::context::tls_server);
  context->set_options(ssl::context::default_workarounds | ssl::context::no_tlsv1 | ssl::context::no_tlsv1_1);
  SSL_CTX_set_options(context->native_handle(), SSL_OP_NO_RENEGOTIATION);
  context->set_password_callback(no_passphrase);

  error_code error;
  context->use_certificate_chain(buffer_of(certificate_file), error);
  if (error)
    return make_error(ErrorCode::kCorrupt, "{}: there is no certificate in PEM form in it", certificate);
  context->use_private_key(buffer_of(key_file), ssl::context::pem, error);
  if (!error) return context;
  switch (ERR_GET_REASON(static_cast<unsigned long>(error.value()))) {
    case X509_R_KEY_VALUES_MISMATCH:
    case X509_R_KEY_TYPE_MISMATCH:
      return make_error(ErrorCode::kCorrupt, "{}: the key does not belong to the certificate {}", key,
                        certificate);
    case PEM_R_BAD_PASSWORD_READ:
      return make_error(ErrorCode::kCorrupt, "{}: the key has a passphrase; give one without (openssl pkey)",
                        key);
    default:
      return make_error(ErrorCode::kCorrupt, "{}: there is no private key in PEM form in it", key);
  }
}

}  // namespace quire::server
