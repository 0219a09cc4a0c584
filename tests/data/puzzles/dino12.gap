# The dino cube by its twelve edges UF UR UB UL DF DR DB DL FR FL BR BL: two turns of each corner.
URF:=(1,2,9);
UFL:=(1,10,4);
ULB:=(3,4,12);
UBR:=(2,3,11);
DFR:=(5,9,6);
DLF:=(5,8,10);
DBL:=(7,12,8);
DRB:=(6,11,7);
Gen:=[URF,UFL,ULB,UBR,DFR,DLF,DBL,DRB];
