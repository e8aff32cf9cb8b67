#include "base/protobuf_reader.h"

#include <bit>

namespace fathom {

bool ProtobufReader::varint(uint64_t& value) {
  value = 0;
  for (unsigned shift = 0; shift < 70; shift += 7) {
    if (rest_.empty()) return false;
    const auto byte = static_cast<unsigned char>(rest_.front());
    rest_.remove_prefix(1);
    if (shift < 64) value |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if ((byte & 0x80) == 0) return true;
  }
  return false;
}

bool ProtobufReader::fixed(size_t size) {
  if (rest_.size() < size) return false;
  number_ = 0;
  for (size_t i = size; i-- > 0;)
    number_ = number_ << 8 | static_cast<unsigned char>(rest_[i]);
  rest_.remove_prefix(size);
  return true;
}

bool ProtobufReader::next() {
  if (rest_.empty() || damaged_) return false;
  uint64_t tag = 0;
  bool ok = varint(tag) && tag >> 3 != 0 && tag >> 3 <= 0x1fffffff;
  if (ok) {
    field_ = static_cast<uint32_t>(tag >> 3);
    wire_ = static_cast<Wire>(tag & 7);
    number_ = 0;
    bytes_ = {};
    switch (wire_) {
      case Wire::kVarint:
        ok = varint(number_);
        break;
      case Wire::kFixed64:
        ok = fixed(8);
        break;
      case Wire::kFixed32:
        ok = fixed(4);
        break;
      case Wire::kBytes: {
        uint64_t size = 0;
        ok = varint(size) && size <= rest_.size();
        if (!ok) break;
        bytes_ = rest_.substr(0, size);
        rest_.remove_prefix(size);
        break;
      }
      default:
        ok = false;
    }
  }
  damaged_ = !ok;
  return ok;
}

double ProtobufReader::real() const {
  if (wire_ == Wire::kFixed64) return std::bit_cast<double>(number_);
  return static_cast<double>(std::bit_cast<float>(static_cast<uint32_t>(number_)));
}

}  // namespace fathom
