# The dino cube: twelve edges, no centres, no corners. A turn of a corner by 120 degrees, clockwise as seen from
# outside, takes its three edges round. Stickers 1 and 2 are those of the edge UF on the faces U and F, 3 and 4 those
# of UR, and so on: UF UR UB UL DF DR DB DL FR FL BR BL.

M_URF:=(3,18,2)(4,17,1);
M_UFL:=(1,19,8)(2,20,7);
M_ULB:=(7,24,6)(8,23,5);
M_UBR:=(5,21,4)(6,22,3);
M_DFR:=(9,17,12)(10,18,11);
M_DLF:=(15,20,10)(16,19,9);
M_DBL:=(13,23,16)(14,24,15);
M_DRB:=(11,22,14)(12,21,13);
Gen:=[M_URF,M_UFL,M_ULB,M_UBR,M_DFR,M_DLF,M_DBL,M_DRB];
ip:=[[1],[2],[3],[4],[5],[6],[7],[8],[9],[10],[11],[12],[13],[14],[15],[16],[17],[18],[19],[20],[21],[22],[23],[24]];
