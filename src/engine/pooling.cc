#include "engine/pooling.h"

namespace quire {

Result<Pooling> pooling_of(const Model& model) {
  enum InFile : int64_t { kNone = 0, kMean = 1, kFirst = 2, kLast = 3 };
  QUIRE_ASSIGN_OR_RETURN(const int64_t pooling, model.file().metadata().get_or<int64_t>(
                                                    model.architecture() + ".pooling_type", int64_t{kLast}));
  switch (pooling) {
    case kMean:
      return Pooling::kMean;
    case kFirst:
      return Pooling::kFirst;
    case kNone:
    case kLast:
      return Pooling::kLast;
    default:
      return make_error(ErrorCode::kUnsupported, "{}.pooling_type is {}, supported are 0 to 3",
                        model.architecture(), pooling);
  }
}

}  // namespace quire
