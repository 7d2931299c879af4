#include "experiments/spec_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <vector>

#include "policies/errors.h"
#include "traces/text_file.h"

namespace cohort {
namespace {

// Walks the text and tells how far the parser has read: the library reports positions only with
// syntax errors.
class CountedText {
 public:
  using difference_type = std::ptrdiff_t;
  using value_type = char;
  using reference = const char&;
  using pointer = const char*;
  using iterator_category = std::input_iterator_tag;

  CountedText(const char* at, const char** read_up_to) : at_(at), read_up_to_(read_up_to) {}
  reference operator*() const { return *at_; }
  CountedText& operator++() {
    *read_up_to_ = ++at_;
    return *this;
  }
  CountedText operator++(int) {
    auto before = *this;
    ++*this;
    return before;
  }
  bool operator==(const CountedText& other) const { return at_ == other.at_; }
  bool operator!=(const CountedText& other) const { return at_ != other.at_; }

 private:
  const char* at_;
  const char** read_up_to_;
};

std::string place(std::string_view text, std::size_t offset, const std::string& name) {
  const auto read = text.substr(0, std::min(offset, text.size()));
  const auto line = std::count(read.begin(), read.end(), '\n') + 1;
  const auto last_break = read.rfind('\n');
  const auto column =
      last_break == std::string_view::npos ? read.size() : read.size() - last_break - 1;
  return fmt::format("{}:{}:{}", name, line, std::max<std::size_t>(column, 1));
}

// Builds the document, open containers on a stack of their own: depth is bounded, the call stack is
// not involved.
class DocumentBuilder final : public nlohmann::json_sax<Json> {
 public:
  DocumentBuilder(std::string_view text, const std::string& name, const char** read_up_to)
      : text_(text), name_(name), read_up_to_(read_up_to) {}

  bool null() override { return add(nullptr); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(number_integer_t value) override { return add(value); }
  bool number_unsigned(number_unsigned_t value) override { return add(value); }
  bool number_float(number_float_t value, const string_t& /*text*/) override { return add(value); }
  bool string(string_t& value) override { return add(std::move(value)); }
  bool binary(binary_t& /*value*/) override { return false; }
  bool start_object(std::size_t /*size*/) override { return open(Json::object()); }
  bool start_array(std::size_t /*size*/) override { return open(Json::array()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }

  bool key(string_t& name) override {
    if (open_.back()->contains(name)) {
      refuse(fmt::format("key {} stands twice in one object; allowed: each key once", shown(name)));
    }
    key_ = std::move(name);
    return true;
  }

  bool parse_error(std::size_t offset, const std::string& /*token*/,
                   const nlohmann::detail::exception& error) override {
    std::string_view what = error.what();
    for (const std::string_view lead :
         {"syntax error while parsing ", "[json.exception.out_of_range.406] "}) {
      if (const auto at = what.find(lead); at != std::string_view::npos)
        what.remove_prefix(at + lead.size());
    }
    throw InputError(place(text_, offset, name_), fmt::format("not JSON: {}", what));
  }

  Json take() { return std::move(document_); }

 private:
  template <typename Value>
  bool add(Value&& value) {
    place_value(Json(std::forward<Value>(value)));
    return true;
  }
  Json* place_value(Json value) {
    if (open_.empty()) {
      document_ = std::move(value);
      return &document_;
    }
    if (open_.back()->is_array()) {
      open_.back()->push_back(std::move(value));
      return &open_.back()->back();
    }
    return &((*open_.back())[key_] = std::move(value));
  }
  bool open(Json container) {
    if (open_.size() == kDeepest) refuse(fmt::format("nested deeper than {} levels", kDeepest));
    open_.push_back(place_value(std::move(container)));
    return true;
  }
  bool close() {
    open_.pop_back();
    return true;
  }
  [[noreturn]] void refuse(const std::string& what) const {
    throw InputError(place(text_, static_cast<std::size_t>(*read_up_to_ - text_.data()), name_),
                     what);
  }

  std::string_view text_;
  const std::string& name_;
  const char** read_up_to_;
  Json document_;
  std::vector<Json*> open_;
  std::string key_;
};

}  // namespace

Json parse_json(std::string_view text, const std::string& name) {
  const bool blank = text.find_first_not_of(" \t\r\n") == std::string_view::npos;
  if (blank) throw InputError(name, "the file is empty; allowed: one JSON object");
  if (text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff"))
    throw InputError(place(text, 1, name), "not JSON: the text is UTF-16; allowed: UTF-8");
  // The library takes one for the end of the text.
  if (const auto nul = text.find('\0'); nul != std::string_view::npos)
    throw InputError(place(text, nul + 1, name), "not JSON: found a NUL byte; allowed: text");
  const char* read_up_to = text.data();
  DocumentBuilder builder(text, name, &read_up_to);
  const CountedText begin(text.data(), &read_up_to);
  const CountedText end(text.data() + text.size(), &read_up_to);
  Json::sax_parse(begin, end, &builder, nlohmann::detail::input_format_t::json, true, true);
  return builder.take();
}

Json read_json_file(const std::filesystem::path& file) {
  return parse_json(read_text(file, kLargestSpecBytes), file.string());
}

std::string shown(const Json& value) {
  constexpr std::size_t kLongest = 60;
  auto text = value.dump(-1, ' ', false, Json::error_handler_t::replace);
  if (text.size() > kLongest) {
    auto end = kLongest;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
    text = text.substr(0, end) + "...";
  }
  return text;
}

}  // namespace cohort
