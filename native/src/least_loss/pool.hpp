// A few groups of rows, grouped again so that they cost less: built again from the rows, or by moves and swaps.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

#include "least_loss/axis.hpp"
#include "least_loss/cluster.hpp"

namespace kohorte {

using RowLists = std::vector<std::vector<Code>>;

// A few groups of rows, built again from their rows, or improved by moves and swaps; one pool after the other.
class Pool {
 public:
  // How often each row of a pool looks for a better place, at most. Our choice.
  static constexpr int kPasses = 6;

  explicit Pool(const Grouped& table) : table_(table) {}

  // Groups the rows of some groups again; nothing if that does not cost less. Every group has what it must have, before and
  // after. Up to `may_leave` rows may be left out.
  std::optional<RowLists> improved(const RowLists& groups, std::size_t may_leave, Random& random) {
    load(groups);
    may_leave_ = table_.fixed.empty() ? may_leave : 0;
    const Cost before = cost();
    const bool rebuild = table_.fixed.empty() && random.below(4) != 0;
    if (rebuild && !build(static_cast<Code>(random.below(ids_.size())))) return std::nullopt;
    polish();
    if (cost() >= before) return std::nullopt;
    RowLists found;
    for (std::size_t c = 0; c < used_; ++c) {
      auto& rows = found.emplace_back();
      for (const Code row : clusters_[c].rows()) rows.push_back(ids_[row]);
    }
    return found;
  }

  // What one group costs.
  Cost cost_of(const std::vector<Code>& rows) {
    load({rows});
    return cost();
  }

  // The rows that the last improvement left out.
  std::vector<Code> left_out() const {
    std::vector<Code> rows;
    for (Code row = 0; row < ids_.size(); ++row) {
      if (owner_[row] == kOut) rows.push_back(ids_[row]);
    }
    return rows;
  }

 private:
  static constexpr Code kOut = Axis::kNone;

  void load(const RowLists& groups) {
    for (std::size_t c = 0; c < used_; ++c) clusters_[c].clear();  // as long as their places are known
    used_ = 0;
    ids_.clear();
    places_.clear();
    for (const auto& rows : groups) {
      for (const Code row : rows) {
        ids_.push_back(row);
        places_.insert(places_.end(), table_.row(row), table_.row(row) + table_.width());
      }
    }
    number_marks();
    owner_.assign(ids_.size(), 0);
    Code row = 0;
    for (const auto& rows : groups) {
      const std::size_t c = fresh();
      for (std::size_t i = 0; i < rows.size(); ++i) put(c, row++);
    }
  }

  // Marks are numbered within the pool, so that a group can count them in a short list.
  void number_marks() {
    const std::size_t needs = table_.needs.size();
    marks_.resize(ids_.size() * needs);
    for (std::size_t r = 0; r < needs; ++r) {
      sorted_.clear();
      for (const Code id : ids_) sorted_.push_back(table_.marks[r][id]);
      std::sort(sorted_.begin(), sorted_.end());
      sorted_.erase(std::unique(sorted_.begin(), sorted_.end()), sorted_.end());
      for (std::size_t i = 0; i < ids_.size(); ++i) {
        const auto at = std::lower_bound(sorted_.begin(), sorted_.end(), table_.marks[r][ids_[i]]);
        marks_[i * needs + r] = static_cast<Code>(at - sorted_.begin());
      }
    }
  }

  std::size_t fresh() {
    if (used_ == clusters_.size()) clusters_.emplace_back(table_, places_, marks_);
    return used_++;
  }

  void put(std::size_t cluster, Code row) {
    clusters_[cluster].add(row);
    owner_[row] = static_cast<Code>(cluster);
  }

  Cost cost() const {
    Cost total = table_.left_out * std::count(owner_.begin(), owner_.end(), kOut);
    for (std::size_t c = 0; c < used_; ++c) total += clusters_[c].cost();
    return total;
  }

  // Builds groups one after the other: a first row, then always the row that costs the group least, until the group has
  // enough. A first row that costs the others too much is left out. The next group begins with the row that is farthest
  // from the last one. The rest goes where it costs least.
  bool build(Code first) {
    for (std::size_t c = 0; c < used_; ++c) clusters_[c].clear();
    used_ = 0;
    free_.assign(ids_.size(), 1);
    std::size_t left = ids_.size();
    while (left >= static_cast<std::size_t>(table_.least)) {
      const std::size_t c = fresh();
      free_[first] = 0;
      put(c, first);
      while (!clusters_[c].enough(Cluster::kNobody, Cluster::kNobody)) {
        const Code row = nearest(clusters_[c]);
        if (row == Cluster::kNobody) break;
        free_[row] = 0;
        put(c, row);
      }
      if (!clusters_[c].enough(Cluster::kNobody, Cluster::kNobody)) {
        for (const Code row : clusters_[c].rows()) free_[row] = 1;
        clusters_[c].clear();
        --used_;
        break;
      }
      if (may_leave_ > 0 && clusters_[c].cost() - clusters_[c].cost(first, Cluster::kNobody) > table_.left_out) {
        for (const Code row : clusters_[c].rows()) free_[row] = row != first;
        clusters_[c].clear();
        --used_;
        --left;
        --may_leave_;
        owner_[first] = kOut;
        first = static_cast<Code>(std::find(free_.begin(), free_.end(), 1) - free_.begin());
        continue;
      }
      left -= static_cast<std::size_t>(clusters_[c].size());
      first = farthest(clusters_[c]);
    }
    if (used_ == 0) return false;
    for (Code row = 0; row < ids_.size(); ++row) {
      if (free_[row] == 0) continue;
      const std::size_t c = cheapest(row);
      if (may_leave_ > 0 && clusters_[c].cost(Cluster::kNobody, row) - clusters_[c].cost() > table_.left_out) {
        owner_[row] = kOut;
        --may_leave_;
      } else {
        put(c, row);
      }
    }
    return true;
  }

  // The free row that costs a group least. If the places that are left are needed for new marks, it must bring one.
  Code nearest(const Cluster& cluster) const {
    const Count places = table_.least - cluster.size();
    Code best = Cluster::kNobody;
    bool best_brings = false;
    Cost least = std::numeric_limits<Cost>::max();
    bool urgent = false;
    for (std::size_t r = 0; r < table_.needs.size(); ++r) urgent |= cluster.lacks(r) > 0 && cluster.lacks(r) >= places;
    for (Code row = 0; row < ids_.size(); ++row) {
      if (free_[row] == 0) continue;
      bool brings = true, some = !urgent;
      for (std::size_t r = 0; urgent && r < table_.needs.size(); ++r) {
        if (cluster.lacks(r) <= 0 || cluster.lacks(r) < places) continue;
        const bool fresh = cluster.new_mark(r, row);
        brings &= fresh;
        some |= fresh;
      }
      if (!some || (best_brings && !brings)) continue;
      const Cost limit = brings && !best_brings ? std::numeric_limits<Cost>::max() : least;
      const Cost cost = cluster.cost(Cluster::kNobody, row);
      if (cost >= limit) continue;
      best = row;
      best_brings = brings;
      least = cost;
    }
    return best;
  }

  Code farthest(const Cluster& cluster) const {
    Code best = 0;
    Cost most = -1;
    for (Code row = 0; row < ids_.size(); ++row) {
      if (free_[row] == 0) continue;
      const Cost cost = cluster.cost(Cluster::kNobody, row);
      if (cost > most) {
        most = cost;
        best = row;
      }
    }
    return best;
  }

  std::size_t cheapest(Code row) const {
    std::size_t best = 0;
    Cost least = std::numeric_limits<Cost>::max();
    for (std::size_t c = 0; c < used_; ++c) {
      const Cost more = clusters_[c].cost(Cluster::kNobody, row) - clusters_[c].cost();
      if (more < least) {
        least = more;
        best = c;
      }
    }
    return best;
  }

  // Every row goes where it saves most, alone or in exchange for another row, as long as something is saved.
  void polish() {
    for (int pass = 0; pass < kPasses; ++pass) {
      bool changed = false;
      for (Code row = 0; row < ids_.size(); ++row) changed |= owner_[row] != kOut && settle(row);
      if (!changed) return;
    }
  }

  bool settle(Code row) {
    const std::size_t from = owner_[row];
    const Cluster& own = clusters_[from];
    const bool may_leave = table_.fixed.empty() && own.enough(row, Cluster::kNobody);
    const Cost alone = own.cost(row, Cluster::kNobody);
    Cost best = 0;
    std::size_t to = from;
    if (may_leave && may_leave_ > 0 && own.cost() - alone > table_.left_out) {
      best = own.cost() - alone - table_.left_out;
      to = kOut;
    }
    Code partner = Cluster::kNobody;
    for (std::size_t c = 0; c < used_; ++c) {
      if (c == from) continue;
      const Cluster& other = clusters_[c];
      const Cost now = own.cost() + other.cost();
      if (may_leave) {
        const Cost saved = now - alone - other.cost(Cluster::kNobody, row);
        if (saved > best) {
          best = saved;
          to = c;
          partner = Cluster::kNobody;
        }
      }
      if (now - alone <= best) continue;  // an exchange saves no more: a row that comes costs at least nothing
      for (const Code there : other.rows()) {
        if (!table_.fixed.empty() && table_.fixed[ids_[row]] != table_.fixed[ids_[there]]) continue;
        const Cost half = now - other.cost(there, row);
        if (half - alone <= best) continue;
        const Cost saved = half - own.cost(row, there);
        if (saved <= best || !own.enough(row, there) || !other.enough(there, row)) continue;
        best = saved;
        to = c;
        partner = there;
      }
    }
    if (to == from) return false;
    clusters_[from].remove(row);
    if (to == kOut) {
      owner_[row] = kOut;
      --may_leave_;
      return true;
    }
    if (partner != Cluster::kNobody) {
      clusters_[to].remove(partner);
      put(from, partner);
    }
    put(to, row);
    return true;
  }

  const Grouped& table_;
  std::vector<Code> ids_, places_, marks_, owner_, sorted_;
  std::vector<std::uint8_t> free_;
  std::vector<Cluster> clusters_;
  std::size_t used_ = 0;
  std::size_t may_leave_ = 0;
};

}  // namespace kohorte
