// Groups rows of integer codes by their generalized codes.
//
// A row holds one code per attribute; `maps[a][level][code]` is the coarser code of attribute `a` at a level.
// The generalized codes of a row are packed into one 64-bit key. Small key spaces are counted in an array,
// large ones in a hash table, and key spaces above 64 bits in stages. Groups are numbered by first appearance,
// so the answer does not depend on the path taken.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

namespace kohorte {

using Code = std::uint32_t;
using Key = std::uint64_t;
using Count = std::int64_t;

struct Grouping {
  std::vector<Code> ids;              // the group of every row
  std::vector<Code> representatives;  // the first row of every group
  std::vector<Count> sizes;           // the summed weights of every group
};

// Finds the number of a key, giving new numbers in the order of first appearance.
class KeyTable {
 public:
  // Begins a new numbering; `space` is the number of possible keys, 0 where it is 2^64 or unknown.
  void reset(Key space, std::size_t rows) {
    direct_ = space != 0 && space <= std::max<Key>(kSmallSpace, 8 * static_cast<Key>(rows));
    if (direct_) {
      if (slots_.size() < space) slots_.resize(static_cast<std::size_t>(space), 0);
      if (stamp_ == std::numeric_limits<std::uint32_t>::max()) {
        std::fill(slots_.begin(), slots_.end(), 0);
        stamp_ = 0;
      }
      ++stamp_;
      return;
    }
    std::size_t capacity = kFirstCapacity;
    while (capacity < rows / 4) capacity *= 2;
    clear(capacity);
  }

  // Returns (number, is it new?); `next` is the number that a new key gets.
  std::pair<Code, bool> find(Key key, Code next) {
    return direct_ ? find_direct(key, next) : find_hashed(key, next);
  }

  bool direct() const { return direct_; }

  std::pair<Code, bool> find_direct(Key key, Code next) {
    std::uint64_t& slot = slots_[static_cast<std::size_t>(key)];
    if (static_cast<std::uint32_t>(slot >> 32) == stamp_) return {static_cast<Code>(slot), false};
    slot = (static_cast<std::uint64_t>(stamp_) << 32) | next;
    return {next, true};
  }

  std::pair<Code, bool> find_hashed(Key key, Code next) {
    std::size_t place = hash(key);
    while (numbers_[place] != kEmpty) {
      if (keys_[place] == key) return {numbers_[place], false};
      place = (place + 1) & mask_;
    }
    keys_[place] = key;
    numbers_[place] = next;
    if (++used_ * 2 > mask_) grow();
    return {next, true};
  }

 private:
  static constexpr Key kSmallSpace = 1 << 16;
  static constexpr std::size_t kFirstCapacity = 1 << 10;
  static constexpr Code kEmpty = std::numeric_limits<Code>::max();

  std::size_t hash(Key key) const {
    key ^= key >> 32;
    return static_cast<std::size_t>((key * 0x9E3779B97F4A7C15ULL) >> shift_);
  }

  void clear(std::size_t capacity) {
    keys_.resize(capacity);
    numbers_.assign(capacity, kEmpty);
    mask_ = capacity - 1;
    shift_ = 64 - std::countr_zero(capacity);
    used_ = 0;
  }

  void grow() {
    std::vector<Key> keys = std::move(keys_);
    std::vector<Code> numbers = std::move(numbers_);
    clear((mask_ + 1) * 4);
    for (std::size_t i = 0; i < keys.size(); ++i) {
      if (numbers[i] == kEmpty) continue;
      std::size_t place = hash(keys[i]);
      while (numbers_[place] != kEmpty) place = (place + 1) & mask_;
      keys_[place] = keys[i];
      numbers_[place] = numbers[i];
      ++used_;
    }
  }

  bool direct_ = false;
  std::uint32_t stamp_ = 0;
  std::vector<std::uint64_t> slots_;
  std::vector<Key> keys_;
  std::vector<Code> numbers_;
  std::size_t mask_ = 0;
  std::size_t used_ = 0;
  int shift_ = 64;
};

// The level maps of all attributes, and the scratch memory of the threads that group with them.
class Grouper {
 public:
  using Maps = std::vector<std::vector<std::vector<Code>>>;  // [attribute][level][code]

  explicit Grouper(Maps maps) : maps_(std::move(maps)) {
    for (const auto& levels : maps_) {
      std::vector<Key> sizes;
      for (const auto& map : levels) {
        if (map.size() != levels.front().size()) throw std::invalid_argument("maps of unequal length");
        Code largest = 0;
        for (Code code : map) largest = std::max(largest, code);
        sizes.push_back(static_cast<Key>(largest) + 1);
      }
      cardinalities_.push_back(std::move(sizes));
    }
  }

  std::size_t attributes() const { return maps_.size(); }

  // Groups rows (row-major codes, one weight a row) by their codes at the given levels.
  Grouping group(std::span<const Code> codes, std::span<const Count> weights,
                 std::span<const std::uint32_t> levels) {
    check(codes, weights, levels);
    Lease lease(*this);
    Grouping result;
    std::size_t attribute = 0;
    bool first = true;
    do {  // one stage, unless the key space does not fit into 64 bits
      attribute = stage(codes, weights, levels, attribute, first, *lease.scratch, result);
      first = false;
    } while (attribute < maps_.size());
    return result;
  }

 private:
  struct Scratch {
    KeyTable table;
    std::vector<std::vector<Key>> contributions;
  };

  // Scratch memory borrowed for one call, so that several threads may group at the same time.
  struct Lease {
    explicit Lease(Grouper& owner) : owner_(owner) {
      std::scoped_lock lock(owner_.mutex_);
      if (!owner_.idle_.empty()) {
        scratch = std::move(owner_.idle_.back());
        owner_.idle_.pop_back();
      } else {
        scratch = std::make_unique<Scratch>();
      }
    }
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    ~Lease() {
      std::scoped_lock lock(owner_.mutex_);
      owner_.idle_.push_back(std::move(scratch));
    }
    std::unique_ptr<Scratch> scratch;

   private:
    Grouper& owner_;
  };

  void check(std::span<const Code> codes, std::span<const Count> weights,
             std::span<const std::uint32_t> levels) const {
    if (levels.size() != maps_.size()) throw std::invalid_argument("one level per attribute, please");
    if (codes.size() != weights.size() * maps_.size()) throw std::invalid_argument("codes and weights differ in rows");
    if (weights.size() >= std::numeric_limits<Code>::max()) throw std::invalid_argument("too many rows");
    for (std::size_t a = 0; a < levels.size(); ++a) {
      if (levels[a] >= maps_[a].size()) throw std::invalid_argument("no such level");
    }
  }

  // Packs as many attributes as fit, beginning with `attribute`, on top of the groups found so far.
  std::size_t stage(std::span<const Code> codes, std::span<const Count> weights,
                    std::span<const std::uint32_t> levels, std::size_t attribute, bool first, Scratch& scratch,
                    Grouping& result) {
    const std::size_t width = maps_.size();
    Key space = first ? 1 : std::max<Key>(1, result.sizes.size());
    std::vector<std::size_t> active;
    if (scratch.contributions.size() < width) scratch.contributions.resize(width);
    for (; attribute < width; ++attribute) {
      const Key cardinality = cardinalities_[attribute][levels[attribute]];
      if (cardinality == 1) continue;
      if (space > std::numeric_limits<Key>::max() / cardinality) break;
      const auto& map = maps_[attribute][levels[attribute]];
      auto& contribution = scratch.contributions[attribute];
      contribution.resize(map.size());
      for (std::size_t code = 0; code < map.size(); ++code) contribution[code] = space * map[code];
      space *= cardinality;
      active.push_back(attribute);
    }
    scratch.table.reset(space, weights.size());
    if (scratch.table.direct()) {
      number<true>(codes, weights, active, first, scratch, result);
    } else {
      number<false>(codes, weights, active, first, scratch, result);
    }
    return attribute;
  }

  template <bool Direct>
  void number(std::span<const Code> codes, std::span<const Count> weights, const std::vector<std::size_t>& active,
              bool first, Scratch& scratch, Grouping& result) const {
    const std::size_t rows = weights.size();
    const std::size_t width = maps_.size();
    std::vector<Code> previous = std::move(result.ids);
    result.ids.resize(rows);
    result.representatives.clear();
    result.sizes.clear();
    std::vector<std::pair<std::size_t, const Key*>> lookups;
    for (std::size_t a : active) lookups.emplace_back(a, scratch.contributions[a].data());
    const Code* row = codes.data();
    for (std::size_t i = 0; i < rows; ++i, row += width) {
      Key key = first ? 0 : previous[i];
      for (const auto& [a, contribution] : lookups) key += contribution[row[a]];
      const Code next = static_cast<Code>(result.sizes.size());
      const auto [id, is_new] = Direct ? scratch.table.find_direct(key, next) : scratch.table.find_hashed(key, next);
      if (is_new) {
        result.representatives.push_back(static_cast<Code>(i));
        result.sizes.push_back(0);
      }
      result.sizes[id] += weights[i];
      result.ids[i] = id;
    }
  }

  Maps maps_;
  std::vector<std::vector<Key>> cardinalities_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Scratch>> idle_;
};

}  // namespace kohorte
