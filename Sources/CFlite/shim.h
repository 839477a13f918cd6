#include <flite/cst_lexicon.h>

// The library installs no header for its English lexicon.
cst_lexicon *cmulex_init(void);
